// The database interface of the steps over plain tables (tables/). They are written once for both stores: parameters have
// names (`:ownerNo`), and statements that differ between the dialects use `inBoth`.
//
// On SQLite a statement is executed before its promise is returned, so all statements of a step are done before the thread
// takes the next step. On PostgreSQL concurrent statements (Promise.all) take effect in their order.

import type { EventDataOf, EventNoun, EventTypeOf, NounOf } from '@jobcast/contract'
import type { AuditedChange, NewAuditEntry, Originated, OwnChange } from '../domain/audit/ports/entries.ts'
import type { Sliced } from '../domain/common/ports/slices.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { LiveExecution } from '../domain/execution/execution-move.ts'
import type { MoveWrites } from '../domain/execution/move-batch.ts'
import type { JobPolicy } from '../domain/job/ports/jobs.ts'
import type { RolloutEventType } from '../domain/rollout/rollout.ts'
import type { AnyFields, Column, ColumnKind, Dialect, Field, Row, Selection } from './schema/column.ts'
import type { Both, Exactly, Given, RowSql, Sql, Values, ValuesFor, Written } from './statement.ts'

export type { Sql, Values } from './statement.ts'

/** The values must be exactly those that the statement names (statement.ts). */
export type Queries = {
  all<Of, S extends Sql, V extends Given<S>>(
    rows: Selection<Of>,
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<Of[]>
  get<Of, S extends Sql, V extends Given<S>>(
    row: Selection<Of>,
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<Of | undefined>
  /** The same for a row that must exist. */
  one<Of, S extends Sql, V extends Given<S>>(
    row: Selection<Of>,
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<Of>
  /** Returns the number of changed rows. */
  run<S extends Sql, V extends Given<S>>(sql: S, ...values: ValuesFor<S, V>): Promise<number>
}

/** Nouns whose events are stored with all of their data. */
type ResourceNoun = Exclude<EventNoun, 'run' | 'execution' | 'device'>
export type ResourceEventType = EventTypeOf<ResourceNoun>
/** `ownerNo`: the owner of the log. */
export type ResourceChange<Type extends ResourceEventType> = {
  ownerNo: number
  at: number
  data: EventDataOf<NounOf<Type>>
} & AuditedChange
export type RunChanged = { ownerNo: number; runId: number; at: number; details: object } & AuditedChange
/** `ask` returns the rows of a statement, `run` the number of changed rows. */
export function buildQueries(
  ask: (sql: Sql, values: Values) => Row[] | Promise<Row[]>,
  run: (sql: Sql, values: Values) => Promise<number>,
): Queries {
  return {
    all: async (rows, sql, ...[values = {}]) => (await ask(sql, values)).map(rows.read),
    async get(row, sql, ...[values = {}]) {
      const [found] = await ask(sql, values)
      return found && row.read(found)
    },
    async one(row, sql, ...[values = {}]) {
      const [found] = await ask(sql, values)
      if (found === undefined) throw new Error('a required row is missing')
      return row.read(found)
    },
    run: (sql, ...[values = {}]) => run(sql, values),
  }
}

/**
 * The new zone of a device, or the windows that apply to it from now on. `begun`: its executions in progress, if the store has
 * them in memory.
 */
export type ZoneChange = DeviceKey & { deviceNo: number } & (
    | { zone: string; windows?: undefined }
    | { zone?: undefined; windows: string[]; begun?: number[] }
  )
export type DeviceChange = {
  ownerNo: number
  deviceNo: number
  at: number
  details?: object
  /** The audit entry; undefined for changes by the device itself. */
  audited?: (AuditedChange & Originated & { deviceId: string }) | undefined
}

/** Inside a transaction: events are committed with their changes. */
export type Writes = Queries & {
  /** Sends a statement without waiting for its result: if it fails, the commit fails. */
  send<S extends Sql, V extends Given<S>>(sql: S, ...values: ValuesFor<S, V>): void
  /** The same for many rows: the statement is for one row on SQLite and for the list `:rows` on PostgreSQL, see `field`. */
  sendRows<S extends Both, V extends Given<S>>(sql: S, rows: readonly Exactly<Given<S>, V>[]): void
  deviceChanged(type: EventTypeOf<'device'>, change: DeviceChange): void
  /** Updates caches of zones and windows. */
  zonesChanged(changes: ZoneChange[]): void
  resourceChanged<Type extends ResourceEventType>(type: Type, change: ResourceChange<Type>): void
  runChanged(type: RolloutEventType, change: RunChanged): void
  /** Adds an audit entry. */
  entry(entry: NewAuditEntry): void
  /** Adds an audit entry for a change without an event. */
  audited(change: OwnChange): void
  /** Loads the executions that a statement selects with the columns LIVE; on PostgreSQL it must lock them. */
  loadExecutions<S extends Sql, V extends Given<S>>(
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<LiveExecution[]>
  writeMoves(writes: MoveWrites): void
  /** Reads the policies of these versions of jobs. */
  readPolicies(versions: Iterable<number>): Promise<(jobVersion: number) => JobPolicy>
}

/** Syntax that differs between the dialects. */
export type Spelling = {
  readonly is: Dialect
  /** Appended to a SELECT: locks the rows until the commit. Empty for SQLite, which has one writer. */
  readonly lock: string
  /** The same, skipping rows that are locked by others. */
  readonly lockFree: string
  /** Locks the executions in a join, in the order of their ids, to prevent deadlocks. */
  readonly lockExecution: string
  /** A join that the planner does not reorder; PostgreSQL is configured not to reorder any (connect.ts). */
  readonly join: string
  readonly least: string
  readonly greatest: string
  /** Without statistics SQLite uses a partial index only if the statement names it. */
  by(index: string): string
  /** `list`: the name of a list parameter with values of this type. */
  isIn<List extends string>(
    column: string,
    list: List,
    type: 'bigint' | 'integer' | 'text',
  ): `${string}:${List}${string}`
  /** For FROM: the numbers of a list as rows `wanted (id)`. PostgreSQL searches for each only in its partition. */
  wanted<List extends string>(list: List): `${string}:${List}${string}`
  /**
   * A field of a row of `sendRows`. On PostgreSQL, where the statement uses `records` of `:rows`, the text has no colon, but its
   * type still has the name.
   */
  field<Name extends string>(name: Name): `:${Name}${string}`
  /** For FROM: the objects of a list as rows `record`. */
  records<List extends string>(
    list: List,
    fields: Readonly<Record<string, Column>>,
  ): `${string}:${List}${string}`
}

const typesOnPostgres: Record<ColumnKind, string> = {
  number: 'bigint',
  text: 'text',
  bytes: 'bytea',
  flag: 'boolean',
  state: 'exec_state',
  json: 'text',
}

const spellings: readonly Spelling[] = [
  {
    is: 'sqlite',
    lock: '',
    lockFree: '',
    lockExecution: '',
    join: 'CROSS JOIN',
    least: 'min',
    greatest: 'max',
    by: (index) => `INDEXED BY ${index}`,
    isIn: (column, list) => `${column} IN (SELECT value FROM json_each(:${list}))`,
    field: (name) => `:${name}`,
    wanted: (list) => `(SELECT value AS id FROM json_each(:${list})) AS wanted`,
    records(list, fields) {
      const columns = Object.keys(fields).map((field) => `value ->> '${field}' AS "${field}"`)
      return `(SELECT ${columns.join(', ')} FROM json_each(:${list})) AS record`
    },
  },
  {
    is: 'postgres',
    lock: 'FOR NO KEY UPDATE',
    lockFree: 'FOR UPDATE SKIP LOCKED',
    lockExecution: 'FOR UPDATE OF execution',
    join: 'JOIN',
    least: 'least',
    greatest: 'greatest',
    by: () => '',
    isIn: (column, list, type) => `${column} = ANY (CAST(:${list} AS ${type}[]))`,
    field: (name) => `record."${name}"` as `:${typeof name}`,
    wanted: (list) => `unnest(CAST(:${list} AS bigint[])) AS wanted (id)`,
    records: recordSet,
  },
]

/**
 * `records` for statements that are only for PostgreSQL. A list for each field: the server reads 1,000 rows of 23 fields in 3 ms,
 * and as a list of JSON objects in 10 ms.
 */
export function recordSet<List extends string>(
  list: List,
  fields: Readonly<Record<string, Column>>,
): `unnest(:${List}.${string}` {
  const given = Object.entries(fields).map(
    ([field, { kind }]) => `CAST(:${list}.${field} AS ${typesOnPostgres[kind]}[])`,
  )
  const names = Object.keys(fields).map((field) => `"${field}"`)
  return `unnest(${given.join(', ')}) AS record (${names.join(', ')})` as `unnest(:${List}.`
}

/**
 * The same for devices, with `keysOf` and a list for each further field: the planner of PostgreSQL expects few rows and looks
 * up each device by its index. For a set of records it expects more rows, prefers a sequential scan of a small table, and keeps
 * that plan while the table grows.
 */
export function deviceKeySet<More extends string = never>(
  more = {} as Readonly<Record<More, 'bigint' | 'text'>>,
): `${string}:${'ownerNos' | 'deviceIds' | More} ${string}` {
  const lists = Object.entries({ ownerNos: 'int', deviceIds: 'text', ...more })
  const names = ['ownerNo', 'deviceId', ...Object.keys(more)].map((name) => `"${name}"`)
  const given = lists.map(([name, type]) => `CAST(:${name as 'ownerNos'} AS ${type}[])` as const)
  return `unnest(${given.join(', ') as (typeof given)[number]}) AS record (${names})`
}

export function keysOf(devices: DeviceKey[]): { ownerNos: number[]; deviceIds: string[] } {
  return {
    ownerNos: devices.map(({ ownerNo }) => ownerNo),
    deviceIds: devices.map(({ deviceId }) => deviceId),
  }
}

/** A statement that differs between the dialects. */
export function inBoth<Text extends string>(build: (spelling: Spelling) => Text): Both<Text> {
  const [sqlite, postgres] = spellings.map(build) as [Text, Text]
  return { sqlite, postgres }
}

/** For `sendRows`: inserts rows that have these fields, all of one table. */
export function insertInto<Of extends AnyFields>(fields: Of): RowSql<Written<Of>> {
  const table = Object.values(fields)[0]?.sql.split('.')[0]
  const columns = Object.values(fields).map(columnOf)
  const names = Object.keys(fields)
  return inBoth(({ is, field, records }) => {
    const values = names.map(field).join(', ')
    const given = is === 'sqlite' ? `VALUES (${values})` : `SELECT ${values} FROM ${records('rows', fields)}`
    return `INSERT INTO ${table} (${columns.join(', ')}) ${given}`
  })
}

/** For `sendRows`: changes these fields of the rows with these keys. `also`: more assignments. */
export function updateRows<Key extends AnyFields, Of extends AnyFields>(
  key: Key,
  fields: Of,
  also = '',
): RowSql<Written<Key & Of>> {
  const table = Object.values(fields)[0]?.sql.split('.')[0]
  return inBoth(({ is, field, records }) => {
    const given = is === 'sqlite' ? '' : `FROM ${records('rows', { ...key, ...fields })}`
    const changes = Object.entries(fields).map(([name, of]) => `${columnOf(of)} = ${field(name)}`)
    const found = Object.entries(key).map(([name, { sql }]) => `${sql} = ${field(name)}`)
    return `UPDATE ${table} SET ${changes.join(', ')}${also} ${given} WHERE ${found.join(' AND ')}`
  })
}

/** For SET: sets each column of these fields to the parameter with its name. */
export function assignmentsOf<Name extends string>(
  fields: Readonly<Record<Name, Field>>,
): `${string}:${Name} ${string}` {
  const all = Object.entries<Field>(fields).map(([name, of]) => `${columnOf(of)} = :${name} `)
  return all.join(', ') as `${string}:${Name} ${string}`
}

export function columnOf({ sql }: Pick<Field, 'sql'>): string {
  return sql.slice(sql.indexOf('.') + 1)
}

/** `found` must have one more item than the limit if the list continues. */
export function sliced<T, Key>(found: T[], limit: number, keyOf: (item: T) => Key): Sliced<T, Key> {
  if (found.length <= limit) return { items: found, next: undefined }
  const items = found.slice(0, limit)
  return { items, next: keyOf(items[limit - 1] as T) }
}
