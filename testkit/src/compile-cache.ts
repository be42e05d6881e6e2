// The compile cache that the programs of the tests share.

import { fileURLToPath } from 'node:url'

export const compileCache =
  process.env.NODE_COMPILE_CACHE ??
  fileURLToPath(new URL('../../node_modules/.cache/jobcast-compiled', import.meta.url))
