// Before all tests, once: what was compiled for one file is there for the next ones, and for the programs they start.
// That took 590 s for all of them down to 510 s.

import { buildConsoleIfStale } from '@jobcast/console/build'
import { compileCache } from './server/test/support/compile-cache.ts'

process.env.NODE_COMPILE_CACHE ??= compileCache

// One that cannot be built fails the tests of the console, not all.
await buildConsoleIfStale().catch((error: unknown) => console.error(error))
