// Statements with named parameters on a connection to SQLite.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { buildQueries, type Queries } from '../queries.ts'
import type { Row } from '../schema/column.ts'
import {
  checkValues,
  type Exactly,
  type Given,
  namesOf,
  placeParameters,
  type Sql,
  type Values,
} from '../statement.ts'

/** For performance-critical steps: returns results without a promise. */
export type Statement<Needed = Values> = {
  all<Has extends Needed>(values: Exactly<Needed, Has>): Row[]
  get<Has extends Needed>(values: Exactly<Needed, Has>): Row | undefined
  /** Returns the number of changed rows. */
  run<Has extends Needed>(values: Exactly<Needed, Has>): number
  /** Takes bound values in the order of the statement. */
  runWith(values: SQLInputValue[]): void
}

export type SqliteQueries = Queries & {
  /** Prepares the statement on first use. */
  statementOf<S extends Sql>(sql: S): Statement<Given<S>>
  listsOf(sql: Sql): (values: Values) => unknown[][]
}

const textOf = (sql: Sql) => (typeof sql === 'string' ? sql : sql.sqlite)

const isOnce = (sql: Sql) => typeof sql !== 'string' && sql.isOnce === true

const nothing: Statement = { all: () => [], get: () => undefined, run: () => 0, runWith: () => undefined }

function prepare(db: DatabaseSync, sql: Sql) {
  const order: string[] = []
  // Parameters are bound by position, because node:sqlite takes 2 µs for each name.
  const text = placeParameters(textOf(sql), (name) => {
    order.push(name)
    return '?'
  })
  const names = namesOf(textOf(sql))
  // With a bare `LIMIT ?`, SQLite prepares the statement again whenever the number is bound, which takes longer than running it.
  const statement = db.prepare(text.replaceAll('LIMIT ?', 'LIMIT 0 + ?'))
  const bind = (values: Values) => {
    checkValues(names, values)
    return order.map((name) => bindingOf(values[name]))
  }
  return { statement, bind }
}

export function prepareNamed<S extends Sql>(db: DatabaseSync, sql: S): Statement<Given<S>> {
  const { statement, bind } = prepare(db, sql)
  return {
    all: (values: Values) => statement.all(...bind(values)),
    get: (values: Values) => statement.get(...bind(values)),
    run: (values: Values) => Number(statement.run(...bind(values)).changes),
    runWith: (values) => void statement.run(...values),
  }
}

/** Returns rows as lists of values, in the order of the columns. */
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
  if (typeof value === 'boolean') return Number(value)
  const isBound = value === null || typeof value === 'bigint' || value instanceof Uint8Array
  return isBound ? value : JSON.stringify(value)
}
