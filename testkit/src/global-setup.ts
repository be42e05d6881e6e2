// Before all tests, once: what was compiled for one file is there for the next ones, and for the programs they start.
// That took 590 s for all of them down to 510 s. And one PostgreSQL that they share.

import { buildConsoleIfStale } from '@jobcast/console/build'
import { compileCache } from './compile-cache.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

process.env.NODE_COMPILE_CACHE ??= compileCache

let postgres: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  // One that cannot be built fails the tests of the console, not all.
  await buildConsoleIfStale().catch((error: unknown) => console.error(error))
  postgres = await startPostgres()
  process.env.JOBCAST_TEST_POSTGRES = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop()
}
