// PostgreSQL as the source or the target of a transfer. Reading is one snapshot, writing one transaction.

import pg from 'pg'
import { StartRefused } from '../migrate.ts'
import { type ColumnKind, type TransferTable, transferTables } from '../transfer/tables.ts'
import {
  COUNT,
  LAST_NUMBERS,
  type LastNumbers,
  LINE,
  misfit,
  NOT_PURGED,
  notEmpty,
  TransferRefused,
  type TransferSource,
  type TransferTarget,
  type Value,
} from '../transfer/transfer.ts'
import { connectionOptions } from './connect.ts'
import { copyIn } from './copy-in.ts'
import { failureOf } from './failures.ts'
import { locks } from './locks.ts'
import { migratePostgres, readSchema, refuseConnection } from './migrate-database.ts'
import { ahead, makePartitions, PARTITION, PARTITIONS, partitionName } from './partitions.ts'
import { postgresMigrations } from './postgres-store.ts'
import { onClient, type Queries } from './rows.ts'

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'
const LAST = `
  SELECT run_id AS "runId", execution_id AS "jobExecutionId",
    (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM event_id) AS "eventId",
    (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM webhook_webhook_no_seq) AS "webhookNo",
    coalesce((SELECT first_execution_id FROM run ORDER BY run_id LIMIT 1), execution_id + 1) AS "oldestExecutionId",
    clock, at AS "clockAt"
  FROM last_id CROSS JOIN steady_clock`
// Rows of purged runs remain until their partition is dropped.
const HAS_RUN = 'WHERE EXISTS (SELECT FROM run WHERE run.run_id = execution.run_id)'
// A second import waits and then finds rows; a node that starts meanwhile waits and finds all rows.
const LOCK = `SELECT pg_advisory_xact_lock(${locks.schema}, 0)` as const
const SET_LAST = "SELECT setval('last_run_id', $1), setval('last_execution_id', $2)"
const SET_CLOCK = 'UPDATE steady_clock SET clock = $1, at = $2'
const LAST_AUDIT_ID = `
  SELECT greatest((SELECT coalesce(max(audit_id), 0) FROM audit_entry),
    (SELECT coalesce(max(last_audit_id), 0) FROM audit_seal))::bigint AS last`
const SET_SEQUENCE = 'SELECT setval($1::regclass, greatest($2::bigint, 1), $2::bigint > 0)'
// Needed to compute the size of further partitions from the rate.
const NOTE_BEGINS = `
  UPDATE execution_partition SET began_at = (
    SELECT launched_at FROM run WHERE run_id >= (
      SELECT run_id FROM execution WHERE execution_id >= first_id ORDER BY execution_id LIMIT 1)
    ORDER BY run_id LIMIT 1)
  WHERE first_id <= $1`

const identities: Record<string, string> = {
  owner: 'owner_no',
  job: 'job_no',
  job_version: 'version_no',
  device: 'device_no',
}
/** Outputs may be large, so fewer are read at once. */
const linesAtOnce = (table: TransferTable) => (table.name === 'output' ? 20 : 1000)
const [leastPartition, largestPartition] = [1_000_000, 50_000_000]

export async function openPostgresSource(url: string): Promise<TransferSource> {
  const { client, queries } = await connect(url)
  try {
    const { applied, known } = await readSchema(client, postgresMigrations())
    if (applied < known) {
      throw new StartRefused('The database has an older schema. Run "jobcast migrate" first.')
    }
    await queries.query(SNAPSHOT)
    const [last] = await queries.query(LAST)
    return {
      lastNumbers: LAST_NUMBERS.read(last ?? {}),
      readLines: (table) => readLines(queries, table),
      async countRows({ name }) {
        const [row] = await queries.query(`SELECT count(*) AS count FROM ${name}`)
        return COUNT.read(row ?? {}).count
      },
      close: () => client.end(),
    }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

async function* readLines(queries: Queries, table: TransferTable): AsyncGenerator<string[]> {
  const values = Object.entries(table.columns).map(([name, kind]) => readValue(name, kind))
  const where = table.name === 'execution' ? HAS_RUN : table.isOfExecution ? NOT_PURGED : ''
  const order = table.key.map((name) => `${table.name}.${name}`).join(', ')
  await queries.query(
    `DECLARE lines NO SCROLL CURSOR FOR
      SELECT json_build_array(${values.join(', ')})::text AS line FROM ${table.name} ${where} ORDER BY ${order}`,
  )
  for (;;) {
    const found = await queries.query(`FETCH ${linesAtOnce(table)} FROM lines`)
    if (found.length === 0) break
    yield found.map((row) => LINE.read(row).line)
  }
  await queries.query('CLOSE lines')
}

function readValue(name: string, kind: ColumnKind): string {
  if (kind === 'bytes') return `encode(${name}, 'hex')`
  return name
}

export async function openPostgresTarget(url: string): Promise<TransferTarget> {
  const { settings } = await migratePostgres(url, postgresMigrations())
  // Rows are counted, which is faster with sequential scans.
  const { client, queries } = await connect(url, { ...settings, enable_seqscan: 'on' })
  let last: LastNumbers
  return {
    async begin(numbers) {
      last = numbers
      await queries.query('BEGIN')
      await queries.query(LOCK)
      await refuseUnlessEmpty(queries)
      await makeEmptyPartitions(queries, last)
    },
    async write(table, columns, rows) {
      const kinds = columns.map((name) => table.columns[name] ?? 'text')
      const sql = `COPY ${table.name} (${columns.join(', ')}) FROM STDIN`
      await copyIn(client, sql, toText(kinds, rows)).catch((error: unknown) => {
        if (error instanceof TransferRefused) throw error
        throw isMisfit(error) ? misfit(table.name, error) : failureOf(error)
      })
      const [row] = await queries.query(`SELECT count(*) AS count FROM ${table.name}`)
      return COUNT.read(row ?? {}).count
    },
    async commit() {
      await queries.query(SET_LAST, [last.runId, last.jobExecutionId])
      await queries.query(SET_CLOCK, [last.clock, last.clockAt])
      await queries.query(SET_SEQUENCE, ['event_id', last.eventId])
      await queries.query(SET_SEQUENCE, ['webhook_webhook_no_seq', last.webhookNo])
      const [audited] = await queries.query(LAST_AUDIT_ID)
      await queries.query(SET_SEQUENCE, ['audit_id', audited?.last])
      for (const [table, column] of Object.entries(identities)) {
        const [row] = await queries.query(`SELECT coalesce(max(${column}), 0)::bigint AS last FROM ${table}`)
        await queries.query(SET_SEQUENCE, [`${table}_${column}_seq`, row?.last])
      }
      await queries.query(NOTE_BEGINS, [last.jobExecutionId])
      await queries.query('COMMIT')
    },
    // Closing the connection rolls an uncommitted transaction back.
    close: () => client.end(),
  }
}

/** By its class: an invalid value, or a violated constraint. */
function isMisfit(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['22', '23'].includes((error.code ?? '').slice(0, 2))
}

async function refuseUnlessEmpty(queries: Queries): Promise<void> {
  for (const { name } of transferTables) {
    const isEmpty = (await queries.query(`SELECT FROM ${name} LIMIT 1`)).length === 0
    if (!isEmpty) throw notEmpty('The database', name, 'a new database (CREATE DATABASE)')
  }
}

/** Existing partitions are empty and begin at 0, where there may be no executions any more. */
async function makeEmptyPartitions(queries: Queries, last: LastNumbers): Promise<void> {
  for (const { firstId } of (await queries.query(PARTITIONS)).map(PARTITION.read)) {
    await queries.query(`DROP TABLE ${partitionName(firstId)}`)
  }
  await queries.query('DELETE FROM execution_partition')
  const ids = last.jobExecutionId - last.oldestExecutionId
  const size = Math.min(largestPartition, Math.max(leastPartition, Math.ceil(ids / 8)))
  await makePartitions(queries, last.jobExecutionId + ahead, () => size, last.oldestExecutionId)
}

/** The text format of COPY: values separated by tabs, one line per row. */
async function* toText(kinds: readonly ColumnKind[], rows: AsyncIterable<Value[][]>): AsyncGenerator<string> {
  for await (const some of rows) {
    let text = ''
    for (const row of some) {
      for (let at = 0; at < kinds.length; at++) {
        if (at > 0) text += '\t'
        text += fieldOf(kinds[at] as ColumnKind, row[at] as Value)
      }
      text += '\n'
    }
    yield text
  }
}

function fieldOf(kind: ColumnKind, value: Value): string {
  if (value === null) return '\\N'
  if (kind === 'bytes') return `\\\\x${value}`
  return typeof value === 'string' ? escaped(value) : String(value)
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found] as string) : text
}

/** Connects without timeouts. */
async function connect(url: string, more: Record<string, string> = {}) {
  const options = connectionOptions(url, {
    ...more,
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  })
  const client = new pg.Client({ ...options, pipeline: false, query_timeout: 0 })
  client.on('error', () => undefined)
  await client.connect().catch(refuseConnection)
  return { client, queries: onClient(client) }
}
