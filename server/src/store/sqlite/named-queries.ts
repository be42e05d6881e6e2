// Statements with named parameters on a connection to SQLite.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { buildQueries, placeParameters, type Queries, type Sql, type Values } from '../queries.ts'
import type { Row } from '../schema/column.ts'

/** For steps on which speed hangs: an answer without a promise. */
type Statement = {
  all(values: Values): Row[]
  get(values: Values): Row | undefined
  /** How many rows it has changed. */
  run(values: Values): number
  /** The values in the order of the statement, as they are bound. */
  runWith(values: SQLInputValue[]): void
}

export type SqliteQueries = Queries & {
  /** Prepared when it is first asked for. */
  statementOf(sql: Sql): Statement
  listsOf(sql: Sql): (values: Values) => unknown[][]
}

const textOf = (sql: Sql) => (typeof sql === 'string' ? sql : sql.sqlite)

const isOnce = (sql: Sql) => typeof sql !== 'string' && sql.isOnce === true

const nothing: Statement = { all: () => [], get: () => undefined, run: () => 0, runWith: () => undefined }

function prepare(db: DatabaseSync, sql: Sql) {
  const names: string[] = []
  // By position: node:sqlite takes 2 µs for each name.
  const text = placeParameters(textOf(sql), (name) => {
    names.push(name)
    return '?'
  })
  // A bare `LIMIT ?` has SQLite prepare the statement again whenever the number is bound, which takes longer than to run it.
  const statement = db.prepare(text.replaceAll('LIMIT ?', 'LIMIT 0 + ?'))
  return { statement, bind: (values: Values) => names.map((name) => bindingOf(values[name])) }
}

/** Whoever asks may hand over an object of which the statement takes a part. */
export function prepareNamed(db: DatabaseSync, sql: Sql): Statement {
  const { statement, bind } = prepare(db, sql)
  return {
    all: (values) => statement.all(...bind(values)),
    get: (values) => statement.get(...bind(values)),
    run: (values) => Number(statement.run(...bind(values)).changes),
    runWith: (values) => void statement.run(...values),
  }
}

/** Rows as lists of their values, in the order in which the statement names them. */
function prepareLists(db: DatabaseSync, sql: Sql): (values: Values) => unknown[][] {
  const { statement, bind } = prepare(db, sql)
  statement.setReturnArrays(true)
  return (values) => statement.all(...bind(values)) as unknown as unknown[][]
}

export function openNamedQueries(db: DatabaseSync): SqliteQueries {
  const statements = new Map<string, Statement>()

  function statementOf(sql: Sql): Statement {
    if (isOnce(sql)) return prepareNamed(db, sql)
    let statement = statements.get(textOf(sql))
    if (statement === undefined) {
      statement = textOf(sql) === '' ? nothing : prepareNamed(db, sql)
      statements.set(textOf(sql), statement)
    }
    return statement
  }

  const lists = new Map<string, (values: Values) => unknown[][]>()

  function listsOf(sql: Sql): (values: Values) => unknown[][] {
    if (isOnce(sql)) return prepareLists(db, sql)
    let statement = lists.get(textOf(sql))
    if (statement === undefined) {
      statement = prepareLists(db, sql)
      lists.set(textOf(sql), statement)
    }
    return statement
  }

  const queries = buildQueries(
    (sql, values) => statementOf(sql).all(values),
    async (sql, values) => statementOf(sql).run(values),
  )
  return { ...queries, statementOf, listsOf }
}

function bindingOf(value: unknown): SQLInputValue {
  if (typeof value === 'number' || typeof value === 'string') return value
  if (value === undefined) return null
  if (typeof value === 'boolean') return Number(value)
  const isBound = value === null || typeof value === 'bigint' || value instanceof Uint8Array
  return isBound ? value : JSON.stringify(value)
}
