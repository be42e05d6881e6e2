// The program that tests start in a process of its own: built once for all of them by the runner, else from its source.

import { fileURLToPath } from 'node:url'

export const sourceProgram = fileURLToPath(new URL('../../cli/bin/jobcast.js', import.meta.url))
export const program = process.env.JOBCAST_TEST_PROGRAM ?? sourceProgram
