// The embedded database as the source or the target of a transfer. Reading uses a snapshot, while a service may be running; writing
// is one transaction on a locked folder.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { prepareDataFolder } from '../data-folder.ts'
import { DatabaseMissing, pendingMigrations, StartRefused } from '../migrate.ts'
import { type ColumnKind, isEndedFlag, type TransferTable, transferTables } from '../transfer/tables.ts'
import {
  COUNT,
  LAST_NUMBERS,
  LINE,
  misfit,
  NOT_PURGED,
  notEmpty,
  type TransferSource,
  type TransferTarget,
  type Value,
} from '../transfer/transfer.ts'
import { migrateDatabase, openDatabaseIn, openReader } from './database.ts'
import { lockData } from './lock-data.ts'
import { schemaOf } from './schema-number.ts'
import { sqliteMigrations } from './sqlite-store.ts'

const LAST = `
  SELECT run_id AS runId, execution_id AS jobExecutionId,
    coalesce((SELECT max(event_id) FROM event), 0) AS eventId,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'webhook'), 0) AS webhookNo,
    coalesce((SELECT first_execution_id FROM run ORDER BY run_id LIMIT 1), execution_id + 1) AS oldestExecutionId,
    clock, at AS clockAt
  FROM last_id CROSS JOIN steady_clock`
const SET_LAST = 'UPDATE last_id SET run_id = ?, execution_id = ?'
const SET_CLOCK = 'UPDATE steady_clock SET clock = ?, at = ?'
const WEBHOOKS_FROM = [
  "DELETE FROM sqlite_sequence WHERE name = 'webhook'",
  "INSERT INTO sqlite_sequence (name, seq) VALUES ('webhook', ?)",
] as const

const linesAtOnce = 1000

export function openSqliteSource(folder: string): TransferSource {
  const path = join(folder, 'jobcast.db')
  if (!existsSync(path)) throw new DatabaseMissing(`There is no database (jobcast.db) in ${folder}.`)
  const db = openReader(path)
  try {
    if (pendingMigrations(sqliteMigrations(), schemaOf(db)).length > 0) {
      throw new StartRefused(`The database in ${folder} has an older schema. Run "jobcast migrate" first.`)
    }
    // The snapshot lasts until the source is closed.
    db.exec('BEGIN')
    const last = LAST_NUMBERS.read(db.prepare(LAST).get() ?? {})
    return {
      lastNumbers: { ...last },
      readLines: (table) => readLines(db, table),
      countRows: async ({ name }) =>
        COUNT.read(db.prepare(`SELECT count(*) AS count FROM ${name}`).get() ?? {}).count,
      close: async () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

async function* readLines(db: DatabaseSync, table: TransferTable): AsyncGenerator<string[]> {
  const values = Object.entries(table.columns).map(([name, kind]) => readValue(table, name, kind))
  const where = table.isOfExecution ? NOT_PURGED : ''
  const sql = `SELECT json_array(${values.join(', ')}) AS line FROM ${table.name} ${where} ORDER BY ${table.key.join(', ')}`
  let lines: string[] = []
  for (const row of db.prepare(sql).iterate()) {
    lines.push(LINE.read(row).line)
    if (lines.length < linesAtOnce) continue
    yield lines
    lines = []
  }
  if (lines.length > 0) yield lines
}

function readValue({ name: table }: TransferTable, name: string, kind: ColumnKind): string {
  // Derived from the counts, because there is no column for it.
  if (isEndedFlag(table, name)) return "json(iif(pending + in_progress + canceling = 0, 'true', 'false'))"
  if (kind === 'bytes') return `iif(${name} IS NULL, NULL, hex(${name}))`
  if (kind === 'flag') return `json(iif(${name}, 'true', 'false'))`
  return name
}

/** The folder is locked until the target is closed. */
export function openSqliteTarget(folder: string): TransferTarget {
  prepareDataFolder(folder)
  const lock = lockData(folder)
  let db: DatabaseSync
  try {
    db = openDatabaseIn(folder)
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    async begin({ runId, jobExecutionId, webhookNo, clock, clockAt }) {
      migrateDatabase(db, sqliteMigrations())
      db.exec('BEGIN IMMEDIATE')
      refuseUnlessEmpty(db, folder)
      db.prepare(SET_LAST).run(runId, jobExecutionId)
      db.prepare(SET_CLOCK).run(clock, clockAt)
      db.prepare(WEBHOOKS_FROM[0]).run()
      db.prepare(WEBHOOKS_FROM[1]).run(webhookNo)
    },
    async write(table, columns, rows) {
      const insert = prepareInsert(db, table, columns)
      for await (const some of rows) {
        try {
          for (const row of some) insert(row)
        } catch (error) {
          throw isMisfit(error) ? misfit(table.name, error) : error
        }
      }
      const row = db.prepare(`SELECT count(*) AS count FROM ${table.name}`).get()
      return COUNT.read(row ?? {}).count
    },
    async commit() {
      db.exec('COMMIT')
    },
    async close() {
      if (db.isTransaction) db.exec('ROLLBACK')
      db.close()
      lock.release()
    },
  }
}

// SQLite's primary codes for a violated constraint and a wrong type, and errors of node:sqlite for values that it cannot bind.
function isMisfit(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return [19, 20].includes(Number(errcode) & 0xff) || code === 'ERR_INVALID_ARG_TYPE'
}

function refuseUnlessEmpty(db: DatabaseSync, folder: string): void {
  for (const { name } of transferTables) {
    const isEmpty = db.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get() === undefined
    if (!isEmpty) throw notEmpty(`The database in ${folder}`, name, 'a folder without a database')
  }
}

function prepareInsert(
  db: DatabaseSync,
  table: TransferTable,
  columns: readonly string[],
): (row: Value[]) => void {
  const used = columns
    .map((name, at) => ({ name, at, kind: table.columns[name] }))
    .filter(({ name }) => !isEndedFlag(table.name, name))
  const values = used.map(({ kind }) => (kind === 'bytes' ? 'unhex(?)' : '?'))
  const names = used.map(({ name }) => name)
  const insert = db.prepare(`INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${values.join(', ')})`)
  const bound: SQLInputValue[] = []
  return (row) => {
    used.forEach(({ at, kind }, index) => {
      const value = row[at] as Value
      bound[index] = kind === 'flag' && value !== null ? Number(value) : (value as SQLInputValue)
    })
    insert.run(...bound)
  }
}
