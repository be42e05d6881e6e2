// The statements of plain tables on PostgreSQL: names of parameters become numbers.

import type pg from 'pg'
import { buildQueries, placeParameters, type Queries, type Sql, type Values } from '../queries.ts'
import { numbers, type Row } from './rows.ts'

type Ask = (sql: string, values: readonly unknown[], isOnce: boolean) => Promise<pg.QueryResult<Row>>
type Statement = { text: string; names: string[]; isJson: boolean[] }

const textOf = (sql: Sql) => (typeof sql === 'string' ? sql : sql.postgres)

export function buildNamedQueries(ask: Ask): Queries {
  const send = (sql: Sql, values: Values) => {
    const isOnce = typeof sql !== 'string' && sql.isOnce === true
    const statement = isOnce ? parse(sql.postgres) : statementOf(textOf(sql))
    const { text, parameters } = place(statement, values)
    return ask(text, parameters, isOnce)
  }
  return buildQueries(
    async (sql, values) => (await send(sql, values)).rows,
    async (sql, values) => (textOf(sql) === '' ? 0 : ((await send(sql, values)).rowCount ?? 0)),
  )
}

/** A statement and its parameters, for who sends it on its own. */
export function placeValues(sql: string, values: Values): { text: string; parameters: unknown[] } {
  return place(statementOf(sql), values)
}

function place({ text, names, isJson }: Statement, values: Values) {
  const parameters = names.map((name, index) =>
    isJson[index] ? JSON.stringify(values[name]) : toParameter(values[name]),
  )
  return { text, parameters }
}

const statements = new Map<string, Statement>()

function statementOf(sql: string): Statement {
  let statement = statements.get(sql)
  if (statement === undefined) {
    statement = parse(sql)
    statements.set(sql, statement)
  }
  return statement
}

function parse(sql: string): Statement {
  const names: string[] = []
  const text = placeParameters(sql, (name) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  // As `records` reads its list.
  const isJson = names.map((name) => sql.includes(`CAST(:${name} AS json)`))
  return { text, names, isJson }
}

/** Lists of numbers are quicker as text. */
function toParameter(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === 'number' ? numbers(value) : value
}
