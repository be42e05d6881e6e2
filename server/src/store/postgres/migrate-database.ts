// Brings the database to the schema of this program, and refuses one on which an answer would not mean: on disk.

import pg from 'pg'
import { StorageUnavailable } from '../../domain/store.ts'
import { type Migration, pendingMigrations, StartRefused } from '../migrate.ts'
import { connectionOptions } from './connect.ts'
import { failureOf } from './failures.ts'
import { locks } from './locks.ts'

const oldestVersion = 150_000

const LOCK = `SELECT pg_advisory_lock(${locks.schema}, 0)`
const TABLE = `
  CREATE TABLE IF NOT EXISTS schema_migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`
const APPLIED = 'SELECT coalesce(max(number), 0) AS applied FROM schema_migration'
const NOTE = 'INSERT INTO schema_migration (number, name) VALUES ($1, $2)'
const SERVER = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text,
    current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous`

/** Gives the settings that connections to this server need besides the usual ones. */
export async function prepareDatabase(url: string, migrations: Migration[]): Promise<Record<string, string>> {
  // A migration may take as long as it takes, and so may the node that migrates before this one.
  const client = new pg.Client({ ...connectionOptions(url, { statement_timeout: '0' }), query_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect().catch(refuseConnection)
  try {
    const settings = await checkServer(client)
    await migrate(client, migrations)
    return settings
  } catch (error) {
    throw error instanceof StartRefused ? error : failureOf(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function migrate(client: pg.Client, migrations: Migration[]): Promise<void> {
  // Of the session: several nodes may start at once, and each migration is a transaction of its own.
  await client.query(LOCK)
  await client.query(TABLE)
  const { rows } = await client.query(APPLIED)
  for (const { number, name, sql } of pendingMigrations(migrations, rows[0].applied)) {
    await client.query('BEGIN')
    await client.query(sql)
    await client.query(NOTE, [number, name])
    await client.query('COMMIT')
  }
}

async function checkServer(client: pg.Client): Promise<Record<string, string>> {
  const [server] = (await client.query(SERVER)).rows
  if (server.version < oldestVersion) {
    throw new StartRefused(`The database is PostgreSQL ${server.version_text}; Jobcast needs 15 or newer.`)
  }
  if (server.encoding !== 'UTF8') {
    throw new StartRefused(
      `The database has the encoding ${server.encoding}. Create it with ENCODING 'UTF8'.`,
    )
  }
  if (server.fsync !== 'on') {
    throw new StartRefused(
      'PostgreSQL runs with fsync off: what it has answered may be lost. Switch fsync on.',
    )
  }
  // All other values wait for this server's disk at least.
  return server.synchronous === 'off' ? { synchronous_commit: 'on' } : {}
}

/** A wrong name or password does not become right by waiting. */
function refuseConnection(error: unknown): never {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  if (code.startsWith('28') || code === '3D000') {
    throw new StartRefused(`PostgreSQL refuses the connection: ${(error as Error).message}`)
  }
  throw new StorageUnavailable(error)
}
