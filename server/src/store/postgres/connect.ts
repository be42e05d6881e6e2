// Sets up a connection to PostgreSQL.

import pg from 'pg'

/** The server ends longer statements; on a healthy machine, none of ours takes a tenth of that. */
const statementTimeoutMs = 60_000
/** Timeout if the server does not respond, for example after a crash of its machine. */
const answerTimeoutMs = 70_000
const connectTimeoutMs = 5000

// Every statement is written for an index. Without statistics, the planner would prefer sequential scans of small tables and keep
// these plans while the tables grow. Joins run in the order in which they are written.
const settings = {
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  join_collapse_limit: '1',
  default_transaction_isolation: 'read\\ committed',
  statement_timeout: `${statementTimeoutMs}`,
  // A node that hangs inside a transaction must not block the others by its locks. Other nodes end its connections when it is
  // silent for long; this setting is for a single node. A run on a million devices takes seconds.
  idle_in_transaction_session_timeout: '30000',
}

const bytea = 17
const int8 = 20

/** All our 64-bit numbers are below 2^53. Set only for our connections, because other code in the process may expect text. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number
    if (oid === bytea) return toBytes
    return pg.types.getTypeParser(oid, format)
  },
} as pg.CustomTypesConfig

function toBytes(hex: string): Uint8Array {
  const bytes = Buffer.from(hex.slice('\\x'.length), 'hex')
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The application name of a node's connections. */
export const nodeName = (nodeNo: number) => `jobcast node ${nodeNo}`

/** `more`: settings of the server for this connection only. */
export function connectionOptions(
  url: string,
  more: Record<string, string> = {},
  name = 'jobcast',
): pg.ClientConfig {
  const options = Object.entries({ ...settings, ...more }).map(([name, value]) => `-c ${name}=${value}`)
  return {
    connectionString: url,
    application_name: name,
    options: options.join(' '),
    types,
    // Statements are sent without waiting for the results of earlier ones.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
  }
}

const names = new Map<string, string>()

/** Each statement is prepared once per connection, with the same name on all. */
export function prepared(sql: string, values: readonly unknown[]): pg.QueryConfig {
  let name = names.get(sql)
  if (name === undefined) {
    name = `s${names.size + 1}`
    names.set(sql, name)
  }
  return { name, text: sql, values: values as unknown[] }
}
