// The program that tests start in a process of its own, from its source.

import { fileURLToPath } from 'node:url'

export const program = fileURLToPath(new URL('../../cli/bin/jobcast.js', import.meta.url))
