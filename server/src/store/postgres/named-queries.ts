// Statements over plain tables on PostgreSQL: named parameters become numbered ones.

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
/** `field`: of the rows of a list. `isFirst`: it is the first of its list. */
type Parameter = { name: string; field: string | undefined; isFirst: boolean }
type Statement = { text: string; names: readonly string[]; parameters: readonly Parameter[] }

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

/** A statement and its parameters, for direct use. */
export function placeValues<S extends string, V extends Given<S>>(
  sql: S,
  values: Exactly<Given<S>, V>,
): { text: string; parameters: unknown[] } {
  return place(statementOf(sql), values)
}

function place({ text, names, parameters }: Statement, values: Values) {
  checkValues(names, values)
  return {
    text,
    parameters: parameters.map(({ name, field, isFirst }) =>
      field === undefined ? toParameter(values[name]) : listField(values[name] as Values[], field, isFirst),
    ),
  }
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

/** Parsed in one pass: a selector has up to 30,000 parameters, and searching the text for each of them took half a minute. */
function parse(sql: Sql): Statement {
  const parameters: Parameter[] = []
  const positions = new Map<string, number>()
  const lists = new Set<string>()
  const text = placeParameters(textOf(sql), (name, field) => {
    const key = `${name}.${field}`
    let position = positions.get(key)
    if (position === undefined) {
      position = parameters.push({ name, field, isFirst: !lists.has(name) })
      if (field !== undefined) lists.add(name)
      positions.set(key, position)
    }
    return `$${position}`
  })
  return { text, names: namesOf(textOf(sql)), parameters }
}

/**
 * The values of one field of all rows, as the text of an array. `unnest` pads short lists with NULL, so a list of NULLs is empty,
 * unless it is the first, which always determines the number of rows: an update of 1,000 executions takes a fifth less.
 */
function listField(rows: readonly Values[], field: string, isFirst: boolean): string {
  if (!isFirst && rows.every((row) => row[field] === null)) return '{}'
  return `{${rows.map((row) => elementText(row[field])).join(',')}}`
}

const special = /[\\"]/
const allSpecial = /[\\"]/g

function elementText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return special.test(text) ? `"${text.replace(allSpecial, '\\$&')}"` : `"${text}"`
}

const rowNames = new WeakMap<object, readonly string[]>()

/** Checks that rows of `:rows` have the values that the statement takes on SQLite. */
export function checkRows(sql: Exclude<Sql, string>, rows: readonly Values[]): void {
  let names = rowNames.get(sql)
  if (names === undefined) {
    names = namesOf(sql.sqlite)
    rowNames.set(sql, names)
  }
  for (const row of rows) checkValues(names, row)
}

/** Lists of numbers are faster as text. */
function toParameter(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === 'number' ? numbers(value) : value
}
