// `npm run generate`: writes what others read of us but nobody writes by hand. A test compares.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@jobcast/testkit/postgres-server'
import { loadConfig } from '../src/config/config.ts'
import { startServer } from '../src/server.ts'
import { migrateDatabase, openDatabase } from '../src/store/sqlite/database.ts'
import { sqliteMigrations } from '../src/store/sqlite/sqlite-store.ts'
import { eventsPageFile, eventsPageText } from './events-page.ts'
import { postgresSchema } from './postgres-schema.ts'

export const openApiFile = new URL('../../docs/openapi.json', import.meta.url)
export const sqliteSchemaFile = new URL('../src/store/sqlite/schema.sql', import.meta.url)
export const postgresSchemaFile = new URL('../src/store/postgres/schema.sql', import.meta.url)

const written = '-- Written by `npm run generate` from the migrations; do not edit.\n\n'

/** The document with all routes: metrics-on-api adds one to those of a server with default settings. */
export async function openApiText(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'jobcast-generate-'))
  const given = { port: 0, 'mqtt-port': 0, data, 'log-level': 'silent', 'metrics-on-api': true }
  const server = await startServer(loadConfig(given, {}))
  try {
    const document: unknown = await (await fetch(`${server.http}/openapi.json`)).json()
    return `${JSON.stringify(document, null, 2)}\n`
  } finally {
    await server.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

/** What the migrations together have made. */
export function sqliteSchemaText(): string {
  const db = openDatabase(':memory:')
  migrateDatabase(db, sqliteMigrations())
  const rows = db
    .prepare(
      `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
      ORDER BY tbl_name, type = 'trigger', type DESC, name`,
    )
    .all()
  db.close()
  const statements = rows.map((row) => `${row.sql};\n`)
  return written + statements.join('\n')
}

/** The same of a database on PostgreSQL. */
export async function postgresSchemaText(url: string): Promise<string> {
  return written + (await postgresSchema(url))
}

async function generate(): Promise<void> {
  writeFileSync(openApiFile, await openApiText())
  writeFileSync(eventsPageFile, eventsPageText())
  writeFileSync(sqliteSchemaFile, sqliteSchemaText())
  const postgres = await startPostgres()
  writeFileSync(postgresSchemaFile, await postgresSchemaText(postgres.template))
  await postgres.stop()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate()
