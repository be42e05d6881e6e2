// Where code that was compiled for one program of the tests is kept for the next ones.

import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const compileCache = join(tmpdir(), 'jobcast-test-compile-cache')
