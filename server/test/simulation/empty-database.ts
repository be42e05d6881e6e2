// A database in memory with our tables. Migrations take most of the time that a whole simulation takes, so they are
// done once, and what they leave is copied.

import { DatabaseSync } from 'node:sqlite'
import { migrateDatabase } from '../../src/store/sqlite/database.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'

const options = { enableForeignKeyConstraints: true }

function readTemplate(): { schema: string; rows: { sql: string; values: never[] }[] } {
  const db = new DatabaseSync(':memory:', options)
  migrateDatabase(db, sqliteMigrations())
  const objects = db
    .prepare(
      `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    .all()
  const schema = objects.map(({ sql }) => `${sql};`).join('\n')
  const tables = objects.filter(({ type }) => type === 'table').map(({ name }) => String(name))
  const rows = tables.flatMap((table) =>
    db
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => ({
        sql: `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row).fill('?').join()})`,
        values: Object.values(row) as never[],
      })),
  )
  db.close()
  return { schema, rows }
}

const { schema, rows } = readTemplate()

export function openEmptyDatabase(): DatabaseSync {
  const db = new DatabaseSync(':memory:', options)
  db.exec(`BEGIN; ${schema} COMMIT`)
  for (const { sql, values } of rows) db.prepare(sql).run(...values)
  return db
}
