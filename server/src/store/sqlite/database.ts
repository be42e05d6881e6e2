// Opens the database file with settings that ensure that committed data is on disk.

import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { createPrivateFile } from '../data-folder.ts'
import { type Migration, pendingMigrations, StartRefused } from '../migrate.ts'
import { longPages } from './log-length.ts'
import { pragma } from './pragma.ts'
import { applicationId, refuseUnreleased, schemaOf } from './schema-number.ts'

// 64 MB of pages: enough for the inner nodes of every index at tens of millions of rows.
const cacheKib = 65_536
const mappedBytes = 1024 ** 3

/** For starting on a data folder: errors are sentences for the operator. */
export function openDatabaseIn(folder: string): DatabaseSync {
  const path = join(folder, 'jobcast.db')
  try {
    refuseUnreleased(path)
    createPrivateFile(path)
    return openDatabase(path)
  } catch (error) {
    if (!isUnavailable(error) && (error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new StartRefused(
      `The database at ${path} cannot be opened: ${(error as Error).message}. ` +
        'Check the file, its permissions and the disk, or restore a backup.',
    )
  }
}

export function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true })
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -${cacheKib};
    PRAGMA wal_autocheckpoint = ${longPages};
  `)
  const journal = pragma(db, 'journal_mode')
  const synchronous = pragma(db, 'synchronous')
  // An in-memory database has no log and nothing to sync; tests use it.
  if ((journal !== 'wal' && journal !== 'memory') || synchronous !== 2) {
    db.close()
    throw new StartRefused(
      `The database at ${path} cannot be opened with a write-ahead log and full sync ` +
        `(journal_mode ${journal}, synchronous ${synchronous}). Is it on a network file system?`,
    )
  }
  return db
}

/** Read-only; sees committed data without waiting for the writer. */
export function openReader(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5000, readOnly: true })
  db.exec(`PRAGMA cache_size = -${cacheKib}`)
  return db
}

/** The same for reading very many rows, which are memory-mapped and not copied. */
export function openScanner(path: string): DatabaseSync {
  const db = openReader(path)
  db.exec(`PRAGMA mmap_size = ${mappedBytes}`)
  return db
}

export function migrateDatabase(db: DatabaseSync, migrations: Migration[]): void {
  for (const migration of pendingMigrations(migrations, schemaOf(db))) {
    db.exec('BEGIN IMMEDIATE')
    try {
      db.exec(migration.sql)
      db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migration.number}`)
      db.exec('COMMIT')
    } catch (error) {
      rollBack(db)
      throw error
    }
  }
}

/** The transaction has the connection for itself, because the thread handles one request at a time. */
export function inTransaction<T>(db: DatabaseSync, work: () => T | Promise<T>): T | Promise<T> {
  const { begin, commit } = boundsOf(db)
  const end = (value: T) => {
    commit.run()
    return value
  }
  const fail = (error: unknown) => {
    rollBack(db)
    throw error
  }
  begin.run()
  try {
    const value = work()
    return value instanceof Promise ? value.then(end).catch(fail) : end(value)
  } catch (error) {
    return fail(error)
  }
}

type Bounds = Record<'begin' | 'commit', StatementSync>

const knownBounds = new WeakMap<DatabaseSync, Bounds>()

/** Prepared once, because parsing takes as long as a small insert. */
function boundsOf(db: DatabaseSync): Bounds {
  let bounds = knownBounds.get(db)
  if (bounds === undefined) {
    bounds = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') }
    knownBounds.set(db, bounds)
  }
  return bounds
}

/** SQLite rolls back automatically on some errors (such as a full disk); a second ROLLBACK would hide the first error. */
export function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

/** All reads of the work see one state of the database. */
export async function inSnapshot<T>(db: DatabaseSync, work: () => T | Promise<T>): Promise<T> {
  db.exec('BEGIN')
  try {
    return await work()
  } finally {
    if (db.isTransaction) db.exec('COMMIT')
  }
}

// SQLite's primary codes for temporary errors and those that the operator must solve: PERM, BUSY, LOCKED, NOMEM, READONLY,
// IOERR, CORRUPT and NOTADB (also caused by a file system that was unmounted), FULL, CANTOPEN.
const passing = new Set([3, 5, 6, 7, 8, 10, 11, 13, 14, 26])
const ofTheDisk = new Set([10, 13])

/** The database or its disk cannot be used right now, as opposed to a bug of ours. */
export function isUnavailable(error: unknown): boolean {
  return passing.has(primaryCode(error))
}

export function isDiskFault(error: unknown): boolean {
  return ofTheDisk.has(primaryCode(error))
}

function primaryCode(error: unknown): number {
  return Number((error as { errcode?: unknown }).errcode) & 0xff
}
