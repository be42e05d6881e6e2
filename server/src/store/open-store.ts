// The only file that imports the stores.

import type { Nodes } from '../domain/common/ports/nodes.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { DatabaseMissing, type SchemaChange } from './migrate.ts'
import { type DatabaseExamination, examinePostgres } from './postgres/examine-database.ts'
import { migratePostgres, onConnection, readSchema } from './postgres/migrate-database.ts'
import { openPostgresStore, postgresMigrations } from './postgres/postgres-store.ts'
import { openPostgresSource, openPostgresTarget } from './postgres/transfer.ts'
import { checkFolder, hasDatabase, migrateFolder } from './sqlite/migrate-folder.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'
import { openSqliteSource, openSqliteTarget } from './sqlite/transfer.ts'
import { writeExport } from './transfer/export-file.ts'
import { readExport } from './transfer/import-file.ts'
import type { Counts, OnTransferProgress } from './transfer/transfer.ts'

export type StorePlace = { dataFolder: string; databaseUrl: string | undefined }

/** `nodes`: only if other nodes may use the same database. */
type OpenedStore = { store: Store; nodes: Nodes | undefined }

export async function openStore(place: StorePlace, onLost: (error: Error) => void): Promise<OpenedStore> {
  const { dataFolder, databaseUrl } = place
  if (databaseUrl === undefined) {
    return { store: openSqliteStore({ folder: dataFolder, onLost }), nodes: undefined }
  }
  const { nodes, ...store } = await openPostgresStore({ url: databaseUrl })
  return { store, nodes }
}

/** For commands that need an existing database: they must not create one in a mistyped folder. */
export function requireDatabase({ dataFolder, databaseUrl }: StorePlace): void {
  if (databaseUrl === undefined && !hasDatabase(dataFolder))
    throw new DatabaseMissing(`There is no database (jobcast.db) in ${dataFolder}.`)
}

/** The change that a migration would make. */
export async function checkSchema({ dataFolder, databaseUrl }: StorePlace): Promise<SchemaChange> {
  if (databaseUrl === undefined) return checkFolder(dataFolder)
  const { applied, known } = await onConnection(databaseUrl, (client) =>
    readSchema(client, postgresMigrations()),
  )
  return { from: applied, to: known }
}

export async function migrateStore({ dataFolder, databaseUrl }: StorePlace): Promise<SchemaChange> {
  if (databaseUrl === undefined) return migrateFolder(dataFolder)
  const migrations = postgresMigrations()
  const { from } = await migratePostgres(databaseUrl, migrations)
  return { from, to: migrations.length }
}

/** For PostgreSQL. */
export function examineDatabase(databaseUrl: string): Promise<DatabaseExamination> {
  return examinePostgres(databaseUrl, postgresMigrations())
}

/** Exports everything to a new file. `version`: the version of the program. */
export async function exportStore(
  { dataFolder, databaseUrl }: StorePlace,
  file: string,
  version: string,
  onProgress?: OnTransferProgress,
): Promise<Counts> {
  const source =
    databaseUrl === undefined ? openSqliteSource(dataFolder) : await openPostgresSource(databaseUrl)
  try {
    return await writeExport(source, file, version, onProgress)
  } finally {
    await source.close()
  }
}

/** Imports everything into an empty database, or nothing. */
export async function importStore(
  { dataFolder, databaseUrl }: StorePlace,
  file: string,
  onProgress?: OnTransferProgress,
): Promise<Counts> {
  const target =
    databaseUrl === undefined ? openSqliteTarget(dataFolder) : await openPostgresTarget(databaseUrl)
  try {
    return await readExport(file, target, onProgress)
  } finally {
    await target.close()
  }
}

/** Describes the location of the data, without the password. */
export function describePlace({ dataFolder, databaseUrl }: StorePlace): string {
  if (databaseUrl === undefined) return dataFolder
  const { host, pathname } = new URL(databaseUrl)
  return `postgres://${host}${pathname}`
}
