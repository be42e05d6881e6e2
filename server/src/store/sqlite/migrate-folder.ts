// Migrates the embedded database in a data folder without running the service.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { prepareDataFolder } from '../data-folder.ts'
import { pendingMigrations, type SchemaChange } from '../migrate.ts'
import { migrateDatabase, openDatabaseIn, openReader } from './database.ts'
import { lockData } from './lock-data.ts'
import { schemaOf } from './schema-number.ts'
import { sqliteMigrations } from './sqlite-store.ts'

export function hasDatabase(folder: string): boolean {
  return existsSync(join(folder, 'jobcast.db'))
}

/** Read-only, so it can run next to a running service. */
export function checkFolder(folder: string): SchemaChange {
  const path = join(folder, 'jobcast.db')
  const migrations = sqliteMigrations()
  if (!hasDatabase(folder)) return { from: 0, to: migrations.length }
  const db = openReader(path)
  try {
    const from = schemaOf(db)
    pendingMigrations(migrations, from)
    return { from, to: migrations.length }
  } finally {
    db.close()
  }
}

export function migrateFolder(folder: string): SchemaChange {
  prepareDataFolder(folder)
  const lock = lockData(folder)
  try {
    const db = openDatabaseIn(folder)
    try {
      const from = schemaOf(db)
      const migrations = sqliteMigrations()
      migrateDatabase(db, migrations)
      return { from, to: migrations.length }
    } finally {
      db.close()
    }
  } finally {
    lock.release()
  }
}
