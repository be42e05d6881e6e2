// Runs once before all tests. Sets up what they share: the compile cache, one PostgreSQL, and one empty database that they
// copy.

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
  emptyDatabase = newTemporaryFolder()
  const [server] = await Promise.all([
    startPostgres(),
    migrateStore({ dataFolder: emptyDatabase, databaseUrl: undefined }),
    // A console that cannot be built fails only its own tests.
    buildConsoleIfStale().catch((error: unknown) => console.error(error)),
  ])
  postgres = server
  process.env.JOBCAST_TEST_DATABASE = join(emptyDatabase, 'jobcast.db')
  process.env.JOBCAST_TEST_POSTGRES = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop()
  rmSync(emptyDatabase, { recursive: true, force: true })
}
