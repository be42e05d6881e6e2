// `npm run generate`: writes what others read of us but nobody writes by hand. A test compares.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfig } from './config.ts'
import { startServer } from './server.ts'
import { migrateDatabase, openDatabase } from './store/sqlite/database.ts'
import { sqliteMigrations } from './store/sqlite/sqlite-store.ts'

export const openApiFile = new URL('../../docs/openapi.json', import.meta.url)
export const sqliteSchemaFile = new URL('store/sqlite/schema.sql', import.meta.url)

/** The document as a server with default settings serves it. */
export async function openApiText(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'jobcast-generate-'))
  const server = await startServer(loadConfig({ port: 0, data, 'log-level': 'silent' }, {}))
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
      ORDER BY tbl_name, type DESC, name`,
    )
    .all()
  db.close()
  const statements = rows.map((row) => `${row.sql};\n`)
  return `-- Written by \`npm run generate\` from the migrations; do not edit.\n\n${statements.join('\n')}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(openApiFile, await openApiText())
  writeFileSync(sqliteSchemaFile, sqliteSchemaText())
}
