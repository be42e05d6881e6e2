// Where code that was compiled for one program of the tests is kept for the next ones.

import { fileURLToPath } from 'node:url'

export const compileCache =
  process.env.NODE_COMPILE_CACHE ??
  fileURLToPath(new URL('../../node_modules/.cache/jobcast-compiled', import.meta.url))
