// What the steps over plain tables (tables/) ask a database with. They are written once for both stores: parameters have
// names (`:ownerNo`), and where the dialects differ, a statement says so (`inBoth`).
//
// On SQLite a statement is carried out before its promise is returned, so all statements of a step are through before
// the thread takes the next one. On PostgreSQL statements that are sent at once (Promise.all) take effect in their order.

import type {
  AccessEventData,
  AccessEventType,
  DeviceEventType,
  FleetEventData,
  FleetEventType,
  RolloutEventType,
  ScheduleEventData,
  ScheduleEventType,
} from '@jobcast/contract'
import type { Sliced } from '../domain/common/ports/slices.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { LiveExecution } from '../domain/execution/execution-move.ts'
import type { MoveWrites } from '../domain/execution/move-batch.ts'
import type { JobPolicy } from '../domain/job/ports/jobs.ts'
import type { AnyFields, Column, ColumnKind, Dialect, Field, Row, Selection } from './schema/column.ts'

/** A statement, or one for each dialect; an empty one has nothing to do there. `isOnce`: it is not kept prepared. */
export type Sql = string | (Readonly<Record<Dialect, string>> & { readonly isOnce?: true })

/** A list is one parameter, see `isIn` and `records`. */
export type Values = Readonly<Record<string, unknown>>

export type Queries = {
  all<Of>(rows: Selection<Of>, sql: Sql, values?: Values): Promise<Of[]>
  get<Of>(row: Selection<Of>, sql: Sql, values?: Values): Promise<Of | undefined>
  /** The same for one that must be there. */
  one<Of>(row: Selection<Of>, sql: Sql, values?: Values): Promise<Of>
  /** How many rows it has changed. */
  run(sql: Sql, values?: Values): Promise<number>
}

/** `ownerNo`: whose log has it. */
export type AccessChange = {
  ownerNo: number
  at: number
  data: AccessEventData | FleetEventData | ScheduleEventData
}
type RunChanged = { ownerNo: number; runId: number; at: number; details: object }
/** `ask` gives the rows of a statement, `run` how many it has changed. */
export function buildQueries(
  ask: (sql: Sql, values: Values) => Row[] | Promise<Row[]>,
  run: (sql: Sql, values: Values) => Promise<number>,
): Queries {
  return {
    all: async (rows, sql, values = {}) => (await ask(sql, values)).map(rows.read),
    async get(row, sql, values = {}) {
      const [found] = await ask(sql, values)
      return found && row.read(found)
    },
    async one(row, sql, values = {}) {
      const [found] = await ask(sql, values)
      if (found === undefined) throw new Error('a row that must be there is not')
      return row.read(found)
    },
    run: (sql, values = {}) => run(sql, values),
  }
}

/** The zone in which a device is from now on. */
export type ZoneChange = DeviceKey & { deviceNo: number; zone: string }
export type DeviceChange = { ownerNo: number; deviceNo: number; at: number; details?: object }

/** Inside a transaction: what becomes an event is committed with the change. */
export type Writes = Queries & {
  /** For what needs no answer: if it fails, the commit does. */
  send(sql: Sql, values: Values): void
  /** The same for each row: a statement that is of one row on SQLite and of the list `:rows` on PostgreSQL, see `field`. */
  sendRows(sql: Sql, rows: Values[]): void
  deviceChanged(type: DeviceEventType, change: DeviceChange): void
  /** For who keeps it in memory. */
  zonesChanged(changes: ZoneChange[]): void
  accessChanged(type: AccessEventType | FleetEventType | ScheduleEventType, change: AccessChange): void
  runChanged(type: RolloutEventType, change: RunChanged): void
  /** Those that a statement finds, as LIVE; on PostgreSQL it has to lock them. */
  loadExecutions(sql: Sql, values: Values): Promise<LiveExecution[]>
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
  isIn(column: string, list: string, type: 'bigint' | 'integer' | 'text'): string
  /** For FROM: the numbers of a list as rows `wanted (id)`. PostgreSQL looks for each in its own partition only. */
  wanted(list: string): string
  /** A field of a row of `sendRows`. On PostgreSQL the statement has `records` of `:rows`. */
  field(name: string): string
  /** For FROM: the objects of a list as rows `record`. */
  records(list: string, fields: Readonly<Record<string, Column>>): string
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
    field: (name) => `record."${name}"`,
    wanted: (list) => `unnest(CAST(:${list} AS bigint[])) AS wanted (id)`,
    records: recordSet,
  },
]

/** `records` for statements of PostgreSQL alone. */
export function recordSet(list: string, fields: Readonly<Record<string, Column>>): string {
  const columns = Object.entries(fields).map(([field, { kind }]) => `"${field}" ${typesOnPostgres[kind]}`)
  return `json_to_recordset(CAST(:${list} AS json)) AS record (${columns.join(', ')})`
}

/**
 * The same for devices, by `keysOf` and a list for each further field: PostgreSQL expects few rows of it and looks each
 * device up by its index. Of a set of records it expects so many that it would rather read a small table whole, and keep
 * that plan while it grows.
 */
export function deviceKeySet(more: Readonly<Record<string, 'bigint' | 'text'>> = {}): string {
  const lists = Object.entries({ ownerNos: 'int', deviceIds: 'text', ...more })
  const names = ['ownerNo', 'deviceId', ...Object.keys(more)].map((name) => `"${name}"`)
  return `unnest(${lists.map(([name, type]) => `CAST(:${name} AS ${type}[])`)}) AS record (${names})`
}

export function keysOf(devices: DeviceKey[]): { ownerNos: number[]; deviceIds: string[] } {
  return {
    ownerNos: devices.map(({ ownerNo }) => ownerNo),
    deviceIds: devices.map(({ deviceId }) => deviceId),
  }
}

/** A statement that differs between the dialects. */
export function inBoth(build: (spelling: Spelling) => string): Sql {
  const [sqlite, postgres] = spellings.map(build) as [string, string]
  return { sqlite, postgres }
}

/** For `sendRows`: inserts rows that have these fields, all of one table. */
export function insertInto(fields: AnyFields): Sql {
  const table = Object.values(fields)[0]?.sql.split('.')[0]
  const columns = Object.values(fields).map(columnOf)
  const names = Object.keys(fields)
  return inBoth(({ is, field, records }) => {
    const values = names.map(field).join(', ')
    const given = is === 'sqlite' ? `VALUES (${values})` : `SELECT ${values} FROM ${records('rows', fields)}`
    return `INSERT INTO ${table} (${columns.join(', ')}) ${given}`
  })
}

export function columnOf({ sql }: Pick<Field, 'sql'>): string {
  return sql.slice(sql.indexOf('.') + 1)
}

/** `place` gives what stands in the statement for a parameter of this name. */
export function placeParameters(sql: string, place: (name: string) => string): string {
  return sql.replace(/(?<!:):([a-zA-Z]\w*)/g, (_, name: string) => place(name))
}

/** Takes one item more than the limit as the sign that the list goes on. */
export function sliced<T, Key>(found: T[], limit: number, keyOf: (item: T) => Key): Sliced<T, Key> {
  if (found.length <= limit) return { items: found, next: undefined }
  const items = found.slice(0, limit)
  return { items, next: keyOf(items[limit - 1] as T) }
}
