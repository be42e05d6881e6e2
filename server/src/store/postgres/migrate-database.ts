// Migrates the database to the schema of this program, and refuses settings with which a response would not mean that data is on disk.

import pg from 'pg'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { type Migration, pendingMigrations, StartRefused, UnreleasedDatabase } from '../migrate.ts'
import { connectionOptions } from './connect.ts'
import { failureOf } from './failures.ts'
import { locks } from './locks.ts'

export const oldestVersion = 150_000

const LOCK = `SELECT pg_advisory_lock(${locks.schema}, 0)` as const
const TABLE = `
  CREATE TABLE IF NOT EXISTS schema_migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`
const HAS_TABLE = "SELECT to_regclass('schema_migration') IS NOT NULL AS has_table"
const APPLIED = 'SELECT number, name FROM schema_migration ORDER BY number'
const NOTE = 'INSERT INTO schema_migration (number, name) VALUES ($1, $2)'
const SERVER = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text,
    current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous`

type ServerFacts = {
  version: number
  version_text: string
  encoding: string
  fsync: string
  synchronous: string
}
type Applied = { number: number; name: string }
/** The number of applied migrations, and of all known ones. */
export type Schema = { applied: number; known: number }

/** `settings`: additional settings that connections to this server need; `from`: the schema before. */
export function migratePostgres(
  url: string,
  migrations: Migration[],
): Promise<{ settings: Record<string, string>; from: number }> {
  return onConnection(url, async (client) => {
    const settings = checkServer(await readServer(client))
    return { settings, from: await migrate(client, migrations) }
  })
}

/** Opens a connection for the work. */
export async function onConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  // Without timeouts, because a migration may take long, as may another node that migrates first.
  const client = new pg.Client({ ...connectionOptions(url, { statement_timeout: '0' }), query_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect().catch(refuseConnection)
  try {
    return await work(client)
  } catch (error) {
    throw error instanceof StartRefused ? error : failureOf(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

export async function readServer(client: pg.Client): Promise<ServerFacts> {
  return (await client.query(SERVER)).rows[0]
}

/** Throws if the database belongs to a newer program, or to an unreleased one, whose migrations had other names. */
export async function readSchema(client: pg.ClientBase, migrations: Migration[]): Promise<Schema> {
  const { rows } = await client.query(HAS_TABLE)
  const found: Applied[] = rows[0].has_table ? (await client.query(APPLIED)).rows : []
  const names = new Map(migrations.map(({ number, name }) => [number, name]))
  if (found.some(({ number, name }) => names.has(number) && names.get(number) !== name)) {
    throw new UnreleasedDatabase('The database', 'a new database (CREATE DATABASE)')
  }
  const applied = found.at(-1)?.number ?? 0
  pendingMigrations(migrations, applied)
  return { applied, known: migrations.length }
}

async function migrate(client: pg.Client, migrations: Migration[]): Promise<number> {
  // A session lock, because several nodes may start at once and each migration is a separate transaction.
  await client.query(LOCK)
  await client.query(TABLE)
  const { applied } = await readSchema(client, migrations)
  for (const { number, name, sql } of pendingMigrations(migrations, applied)) {
    await client.query('BEGIN')
    await client.query(sql)
    await client.query(NOTE, [number, name])
    await client.query('COMMIT')
  }
  return applied
}

function checkServer(server: ServerFacts): Record<string, string> {
  if (server.version < oldestVersion) {
    throw new StartRefused(`The database is PostgreSQL ${server.version_text}; Jobcast needs 15 or newer.`)
  }
  if (server.encoding !== 'UTF8') {
    throw new StartRefused(
      `The database has the encoding ${server.encoding}. Create it with ENCODING 'UTF8'.`,
    )
  }
  if (server.fsync !== 'on') {
    throw new StartRefused('PostgreSQL runs with fsync off: confirmed commits may be lost. Switch fsync on.')
  }
  // All other values wait at least for this server's disk.
  return server.synchronous === 'off' ? { synchronous_commit: 'on' } : {}
}

/** A wrong name or password is not retried. */
export function refuseConnection(error: unknown): never {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  if (code.startsWith('28') || code === '3D000') {
    throw new StartRefused(`PostgreSQL refuses the connection: ${(error as Error).message}`)
  }
  throw new StorageUnavailable(error)
}
