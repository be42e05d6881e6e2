// The program that tests start as a separate process, from its source.

import { fileURLToPath } from 'node:url'

export const program = fileURLToPath(new URL('../../cli/bin/jobcast.js', import.meta.url))
