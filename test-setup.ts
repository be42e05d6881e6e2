// Before all tests, once: what was compiled for one file is there for the next ones, and for the programs they start.
// That is a third of the time of all of them.

import { tmpdir } from 'node:os'
import { join } from 'node:path'

process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'jobcast-test-compile-cache')
