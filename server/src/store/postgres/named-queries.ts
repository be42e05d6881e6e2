// The statements of plain tables on PostgreSQL: names of parameters become numbers.

import type pg from 'pg'
import { buildQueries, type Queries } from '../queries.ts'
import {
  checkValues,
  type Exactly,
  type Given,
  namesOf,
  placeParameters,
  type Sql,
  type Values,
} from '../statement.ts'
import { numbers, type Row } from './rows.ts'

type Ask = (sql: string, values: readonly unknown[], isOnce: boolean) => Promise<pg.QueryResult<Row>>
type Statement = { text: string; names: readonly string[]; isJson: boolean[] }

const textOf = (sql: Sql) => (typeof sql === 'string' ? sql : sql.postgres)

export function buildNamedQueries(ask: Ask): Queries {
  const send = (sql: Sql, values: Values) => {
    const isOnce = typeof sql !== 'string' && sql.isOnce === true
    const statement = isOnce ? parse(sql) : statementOf(sql)
    const { text, parameters } = place(statement, values)
    return ask(text, parameters, isOnce)
  }
  return buildQueries(
    async (sql, values) => (await send(sql, values)).rows,
    async (sql, values) => (textOf(sql) === '' ? 0 : ((await send(sql, values)).rowCount ?? 0)),
  )
}

/** A statement and its parameters, for who sends it on its own. */
export function placeValues<S extends string, V extends Given<S>>(
  sql: S,
  values: Exactly<Given<S>, V>,
): { text: string; parameters: unknown[] } {
  return place(statementOf(sql), values)
}

function place({ text, names, isJson }: Statement, values: Values) {
  checkValues(names, values)
  const parameters = names.map((name, index) =>
    isJson[index] ? JSON.stringify(values[name]) : toParameter(values[name]),
  )
  return { text, parameters }
}

const statements = new Map<string, Statement>()

function statementOf(sql: Sql): Statement {
  let statement = statements.get(textOf(sql))
  if (statement === undefined) {
    statement = parse(sql)
    statements.set(textOf(sql), statement)
  }
  return statement
}

// As `records` reads its list.
const jsonPattern = /CAST\(:([a-zA-Z]\w*) AS json\)/g

/** In one pass each: a selector has up to 30,000 parameters, and a search of the text for each of them took half a minute. */
function parse(sql: Sql): Statement {
  const names = namesOf(textOf(sql))
  const positions = new Map(names.map((name, index) => [name, index + 1]))
  const text = placeParameters(textOf(sql), (name) => `$${positions.get(name)}`)
  const json = new Set(Array.from(textOf(sql).matchAll(jsonPattern), ([, name]) => name))
  return { text, names, isJson: names.map((name) => json.has(name)) }
}

const rowNames = new WeakMap<object, readonly string[]>()

/** Of a row of `:rows`: what the same statement takes on SQLite. */
export function checkRows(sql: Exclude<Sql, string>, rows: readonly Values[]): void {
  let names = rowNames.get(sql)
  if (names === undefined) {
    names = namesOf(sql.sqlite)
    rowNames.set(sql, names)
  }
  for (const row of rows) checkValues(names, row)
}

/** Lists of numbers are quicker as text. */
function toParameter(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === 'number' ? numbers(value) : value
}
