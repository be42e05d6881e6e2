// The statements of plain tables on a connection to SQLite. Each is prepared when it is first asked for.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Sql, Values, Writes } from '../queries.ts'
import type { EventLog } from './events.ts'

type Bindings = Record<string, SQLInputValue>

export type SqliteQueries = Writes & {
  /** For steps of this store alone on which speed hangs: an answer without a promise. */
  statementOf(sql: Sql): StatementSync
}

/** Without a log for whoever only reads. */
export function openNamedQueries(db: DatabaseSync, log?: EventLog): SqliteQueries {
  const statements = new Map<string, StatementSync>()

  function statementOf(sql: Sql): StatementSync {
    const text = typeof sql === 'string' ? sql : sql.sqlite
    let statement = statements.get(text)
    if (statement === undefined) {
      statement = db.prepare(text)
      // Whoever asks may hand over an object of which the statement takes a part.
      statement.setAllowUnknownNamedParameters(true)
      statements.set(text, statement)
    }
    return statement
  }

  return {
    statementOf,
    all: async (rows, sql, values = {}) => statementOf(sql).all(bindingsOf(values)).map(rows.read),
    async get(row, sql, values = {}) {
      const found = statementOf(sql).get(bindingsOf(values))
      return found && row.read(found)
    },
    async one(row, sql, values = {}) {
      const found = statementOf(sql).get(bindingsOf(values))
      if (found === undefined) throw new Error('a row that must be there is not')
      return row.read(found)
    },
    async run(sql, values = {}) {
      if (typeof sql !== 'string' && sql.sqlite === '') return 0
      return Number(statementOf(sql).run(bindingsOf(values)).changes)
    },
    deviceChanged: (type, change) => log?.deviceChanged(type, change),
    accessChanged: (type, change) => log?.accessChanged(type, change),
  }
}

function bindingsOf(values: Values): Bindings {
  const bindings: Bindings = {}
  for (const name in values) bindings[name] = bindingOf(values[name])
  return bindings
}

function bindingOf(value: unknown): SQLInputValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    return JSON.stringify(value)
  return value as SQLInputValue
}
