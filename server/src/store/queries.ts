// What the steps over plain tables (tables/) ask a database with. They are written once for both stores: parameters have
// names (`:ownerNo`), and where the dialects differ, a statement says so (`inBoth`).
//
// On SQLite a statement is carried out before its promise is returned, so all statements of a step are through before
// the thread takes the next one. On PostgreSQL statements that are sent at once (Promise.all) take effect in their order.

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

/** Values are those that the statement names (statement.ts). */
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
  /** The same for one that must be there. */
  one<Of, S extends Sql, V extends Given<S>>(
    row: Selection<Of>,
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<Of>
  /** How many rows it has changed. */
  run<S extends Sql, V extends Given<S>>(sql: S, ...values: ValuesFor<S, V>): Promise<number>
}

/** Events of these nouns are stored with all of their data. */
type ResourceNoun = Exclude<EventNoun, 'run' | 'execution' | 'device'>
export type ResourceEventType = EventTypeOf<ResourceNoun>
/** `ownerNo`: whose log has it. */
export type ResourceChange<Type extends ResourceEventType> = {
  ownerNo: number
  at: number
  data: EventDataOf<NounOf<Type>>
} & AuditedChange
export type RunChanged = { ownerNo: number; runId: number; at: number; details: object } & AuditedChange
/** `ask` gives the rows of a statement, `run` how many it has changed. */
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
      if (found === undefined) throw new Error('a row that must be there is not')
      return row.read(found)
    },
    run: (sql, ...[values = {}]) => run(sql, values),
  }
}

/**
 * Of a device, from now on: the zone in which it is, or the windows that apply to it. `begun`: what of it is under way, where
 * that is kept in memory.
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
  /** For the audit; undefined: the device did it. */
  audited?: (AuditedChange & Originated & { deviceId: string }) | undefined
}

/** Inside a transaction: what becomes an event is committed with the change. */
export type Writes = Queries & {
  /** For what needs no answer: if it fails, the commit does. */
  send<S extends Sql, V extends Given<S>>(sql: S, ...values: ValuesFor<S, V>): void
  /** The same for each row: a statement that is of one row on SQLite and of the list `:rows` on PostgreSQL, see `field`. */
  sendRows<S extends Both, V extends Given<S>>(sql: S, rows: readonly Exactly<Given<S>, V>[]): void
  deviceChanged(type: EventTypeOf<'device'>, change: DeviceChange): void
  /** For who keeps it in memory. */
  zonesChanged(changes: ZoneChange[]): void
  resourceChanged<Type extends ResourceEventType>(type: Type, change: ResourceChange<Type>): void
  runChanged(type: RolloutEventType, change: RunChanged): void
  /** An entry as it is. */
  entry(entry: NewAuditEntry): void
  /** A change that has no event of its own, as an entry of the audit. */
  audited(change: OwnChange): void
  /** Those that a statement finds, as LIVE; on PostgreSQL it has to lock them. */
  loadExecutions<S extends Sql, V extends Given<S>>(
    sql: S,
    ...values: ValuesFor<S, V>
  ): Promise<LiveExecution[]>
  writeMoves(writes: MoveWrites): void
  /** Of all these versions of jobs. */
  readPolicies(versions: Iterable<number>): Promise<(jobVersion: number) => JobPolicy>
}

/** How the dialects spell what both can do. */
export type Spelling = {
  readonly is: Dialect
  /** Behind a SELECT: nobody else changes these rows before the commit. SQLite has one writer. */
  readonly lock: string
  /** The same, without those that somebody else has locked. */
  readonly lockFree: string
  /** Of the executions in a join. In the order of their ids, so that nobody waits in a circle. */
  readonly lockExecution: string
  /** A join that the planner leaves where it stands; PostgreSQL is set to leave all of them (connect.ts). */
  readonly join: string
  readonly least: string
  readonly greatest: string
  /** Without statistics SQLite uses a partial index only where a statement names it. */
  by(index: string): string
  /** `list`: the name of a parameter, of values of this type. */
  isIn<List extends string>(
    column: string,
    list: List,
    type: 'bigint' | 'integer' | 'text',
  ): `${string}:${List}${string}`
  /** For FROM: the numbers of a list as rows `wanted (id)`. PostgreSQL looks for each in its own partition only. */
  wanted<List extends string>(list: List): `${string}:${List}${string}`
  /**
   * A field of a row of `sendRows`. On PostgreSQL, where the statement has `records` of `:rows`, there is no colon; the
   * compiler learns the name from it all the same.
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

/** `records` for statements of PostgreSQL alone. */
export function recordSet<List extends string>(list: List, fields: Readonly<Record<string, Column>>) {
  const columns = Object.entries(fields).map(([field, { kind }]) => `"${field}" ${typesOnPostgres[kind]}`)
  return `json_to_recordset(CAST(:${list} AS json)) AS record (${columns.join(', ')})` as const
}

/**
 * The same for devices, by `keysOf` and a list for each further field: PostgreSQL expects few rows of it and looks each
 * device up by its index. Of a set of records it expects so many that it would rather read a small table whole, and keep
 * that plan while it grows.
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

/** For SET: each column of these fields is set to the parameter of its name. */
export function assignmentsOf<Name extends string>(
  fields: Readonly<Record<Name, Field>>,
): `${string}:${Name} ${string}` {
  const all = Object.entries<Field>(fields).map(([name, of]) => `${columnOf(of)} = :${name} `)
  return all.join(', ') as `${string}:${Name} ${string}`
}

export function columnOf({ sql }: Pick<Field, 'sql'>): string {
  return sql.slice(sql.indexOf('.') + 1)
}

/** Takes one item more than the limit as the sign that the list goes on. */
export function sliced<T, Key>(found: T[], limit: number, keyOf: (item: T) => Key): Sliced<T, Key> {
  if (found.length <= limit) return { items: found, next: undefined }
  const items = found.slice(0, limit)
  return { items, next: keyOf(items[limit - 1] as T) }
}
