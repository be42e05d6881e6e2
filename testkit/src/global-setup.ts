// Before all tests, once: what was compiled for one file is there for the next ones, and for the programs they start.
// There is one PostgreSQL that they share, and one empty database that they copy.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsoleIfStale } from '@jobcast/console/build'
import { migrateStore } from '@jobcast/server'
import { compileCache } from './compile-cache.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { newTemporaryFolder } from './temporary-folder.ts'

process.env.NODE_COMPILE_CACHE = compileCache

let postgres: PostgresServer | undefined
let emptyDatabase = ''

export async function globalSetup(): Promise<void> {
  // One that cannot be built fails the tests of the console, not all.
  await buildConsoleIfStale().catch((error: unknown) => console.error(error))
  emptyDatabase = newTemporaryFolder()
  await migrateStore({ dataFolder: emptyDatabase, databaseUrl: undefined })
  process.env.JOBCAST_TEST_DATABASE = join(emptyDatabase, 'jobcast.db')
  postgres = await startPostgres()
  process.env.JOBCAST_TEST_POSTGRES = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop()
  rmSync(emptyDatabase, { recursive: true, force: true })
}
