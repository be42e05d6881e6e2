// A database of schema 1, the first one, with rows in every table: each later migration has to take it along. The rows
// (schema-1.jsonl) are never edited: they are what the first version has written.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import {
  checkSchema,
  exportStore,
  migrateStore,
  openStore,
  type StorePlace,
} from '../../src/store/open-store.ts'
import { migratePostgres } from '../../src/store/postgres/migrate-database.ts'
import { postgresMigrations } from '../../src/store/postgres/postgres-store.ts'
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'
import { allExecutions, allRuns, assertRunsAddUp, readAll } from './store-under-test.ts'

/** Bytes are `\x` and hexadecimal, flags 0 or 1. */
type Value = string | number | null
type Row = Record<string, Value>
type Rows = Map<string, Row[]>

const server = await sharedPostgres()

function readRows(): Rows {
  const rows: Rows = new Map()
  const lines = readFileSync(join(import.meta.dirname, 'schema-1.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  for (const line of lines) {
    const [table, row] = JSON.parse(line) as [string, Row]
    rows.set(table, [...(rows.get(table) ?? []), row])
  }
  return rows
}

const written = readRows()

type Opened = {
  place: StorePlace
  tables(): Promise<string[]>
  /** The columns that a table still has, of these. */
  columns(table: string): Promise<string[]>
  read(table: string, columns: string[]): Promise<Row[]>
}

const tablesOnSqlite = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"

async function openSqlite(t: TestContext): Promise<Opened> {
  const dataFolder = join(temporaryFolder(t), 'data')
  mkdirSync(dataFolder)
  const path = join(dataFolder, 'jobcast.db')
  const db = openDatabase(path)
  migrateDatabase(db, sqliteMigrations().slice(0, 1))
  db.exec('DELETE FROM last_id; DELETE FROM steady_clock')
  for (const [table, rows] of written) {
    for (const row of rows) {
      const names = Object.keys(row)
      const insert = `INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`
      db.prepare(insert).run(...Object.values(row).map(toSqlite))
    }
  }
  db.close()
  const ask = (sql: string, ...values: string[]) => {
    const reader = new DatabaseSync(path, { readOnly: true })
    const found = reader.prepare(sql).all(...values)
    reader.close()
    return found
  }
  return {
    place: { dataFolder, databaseUrl: undefined },
    tables: async () => ask(tablesOnSqlite).map(({ name }) => String(name)),
    columns: async (table) =>
      ask('SELECT name FROM pragma_table_info(?)', table).map(({ name }) => String(name)),
    read: async (table, columns) => ask(`SELECT ${columns} FROM ${table}`).map((row) => ({ ...row }) as Row),
  }
}

function toSqlite(value: Value) {
  return typeof value === 'string' && value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : value
}

// What PostgreSQL has besides. Its last ids are sequences.
const onPostgresOnly = [
  'INSERT INTO execution_partition VALUES (0, 1000000, 1)',
  "SELECT setval('last_run_id', 100), setval('last_execution_id', 1000), setval('event_id', 1000)",
  "SELECT setval('owner_owner_no_seq', 100), setval('job_job_no_seq', 100), setval('device_device_no_seq', 100)",
  "SELECT setval('job_version_version_no_seq', 100), setval('webhook_webhook_no_seq', 100)",
  'UPDATE run SET ended = pending + in_progress + canceling = 0',
  'UPDATE device SET node_no = 1, session_since = 1 WHERE online',
  'INSERT INTO node (node_no, beat_at) VALUES (1, 1)',
  'INSERT INTO commit_marker VALUES (1, 1, 1, 1, 1)',
  'UPDATE device SET device_name = device_name, deleted_at = deleted_at WHERE deleted_at IS NOT NULL',
]

async function openPostgres(): Promise<Opened> {
  const url = await createDatabase(server)
  await execute(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public')
  await migratePostgres(url, postgresMigrations().slice(0, 1))
  await execute(
    url,
    'DELETE FROM steady_clock',
    'CREATE TABLE execution_from_0 PARTITION OF execution FOR VALUES FROM (0) TO (1000000)',
  )
  for (const [table, rows] of written) {
    if (table === 'last_id') continue
    const names = Object.keys(rows[0] ?? {})
    const values = `SELECT ${names} FROM json_populate_recordset(null::${table}, ${quote(JSON.stringify(rows))})`
    await execute(url, `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE ${values}`)
  }
  await execute(url, ...onPostgresOnly)
  const ofTable = "table_schema = 'public' AND table_name NOT LIKE 'execution\\_from\\_%'"
  return {
    place: { dataFolder: '', databaseUrl: url },
    async tables() {
      const sql = `SELECT table_name AS name FROM information_schema.tables WHERE ${ofTable} AND table_type = 'BASE TABLE'`
      return (await execute(url, sql)).map(({ name }) => String(name))
    },
    async columns(table) {
      const sql = `SELECT column_name AS name FROM information_schema.columns WHERE ${ofTable} AND table_name = '${table}'`
      return (await execute(url, sql)).map(({ name }) => String(name))
    },
    async read(table, columns) {
      const found = await execute(
        url,
        `SELECT to_json(found) AS row FROM (SELECT ${columns} FROM ${table}) AS found`,
      )
      return found.map(({ row }) => row as Row)
    },
  }
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

const normalized = (rows: Row[], columns: string[]) =>
  rows.map((row) => JSON.stringify(columns.map((name) => toValue(row[name])))).sort()

function toValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'boolean' ? Number(value) : value
}

/** Who made groups and windows was not recorded; who changes them is. */
async function assertMakersFromNowOn(store: Store, ownerNo: number) {
  const by = { ownerNo, principal: 'key:k1', lineage: 'key:k1', at: 1, most: 100 }
  for (const group of await readAll((slice: Slice<string>) => store.listGroups({ ownerNo, slice }))) {
    assert.deepEqual([group.createdBy, group.updatedBy], [null, null])
    const put = await store.putGroup({ ...by, ...group })
    assert.ok(put.kind === 'put')
    assert.deepEqual([put.value.createdBy, put.value.updatedBy], [null, 'key:k1'])
  }
  for (const window of await readAll((slice: Slice<string>) => store.listWindows({ ownerNo, slice }))) {
    assert.deepEqual([window.createdBy, window.updatedBy], [null, null])
    const put = await store.putWindow({ ...window, ...by, openZones: '', clock: steadyInstant(1) })
    assert.ok(put.kind === 'put')
    assert.deepEqual([put.value.createdBy, put.value.updatedBy], [null, 'key:k1'])
  }
}

for (const [name, open, newest] of [
  ['SQLite', openSqlite, sqliteMigrations().length],
  ['PostgreSQL', openPostgres, postgresMigrations().length],
] as const) {
  test(`${name}: a database of schema 1 is migrated to the newest schema, with every row it has`, async (t) => {
    const { place, ...database } = await open(t)
    for (const table of await database.tables()) {
      assert.notDeepEqual(await database.read(table, ['1 AS one']), [], `${table} has no rows`)
    }
    assert.deepEqual(await checkSchema(place), { from: 1, to: newest })
    assert.deepEqual(await migrateStore(place), { from: 1, to: newest })
    assert.deepEqual(await migrateStore(place), { from: newest, to: newest })
    const tables = new Set(await database.tables())
    for (const [table, rows] of written) {
      if (!tables.has(table)) continue
      const has = await database.columns(table)
      const columns = Object.keys(rows[0] ?? {}).filter((column) => has.includes(column))
      const found = normalized(await database.read(table, columns), columns)
      assert.deepEqual(found, normalized(rows, columns), table)
    }
    const counts = await exportStore(place, join(temporaryFolder(t), 'export.gz'), '0.0.0')
    assert.equal(counts.device, written.get('device')?.length)
  })

  test(`${name}: the store reads what a database of schema 1 has, and continues`, async (t) => {
    const { place } = await open(t)
    const { store } = await openStore(place, assert.ifError)
    t.after(() => store.close())
    const owners = await readAll((slice: Slice<number>) => store.listOwners(slice))
    assert.equal(owners.length, written.get('owner')?.length)
    const found = { runs: 0, executions: 0, jobs: 0, webhooks: 0 }
    for (const { ownerNo } of owners) {
      found.runs += (await allRuns(store, ownerNo)).length
      found.executions += (await allExecutions(store, ownerNo)).length
      const jobs = await readAll((slice: Slice<string>) => store.listJobs({ ownerNo, slice }))
      found.jobs += jobs.length
      found.webhooks += (
        await readAll((slice: Slice<string>) => store.listWebhooks({ ownerNo, slice }))
      ).length
      await assertRunsAddUp(store, ownerNo)
      await assertMakersFromNowOn(store, ownerNo)
      // The next version of a job counts on.
      for (const { jobName, version, createdAt, updatedAt, updatedBy, ...content } of jobs) {
        const at = updatedAt + 1
        const put = { ownerNo, jobName, content: { ...content, description: 'changed' }, at }
        assert.equal((await store.putJob(put)).value.version, version + 1)
      }
    }
    const isThere = ({ deleted_at }: Row) => deleted_at === null
    assert.deepEqual(found, {
      runs: written.get('run')?.length,
      executions: written.get('execution')?.length,
      jobs: written.get('job')?.filter(isThere).length,
      webhooks: written.get('webhook')?.length,
    })
  })
}
