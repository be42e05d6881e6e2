// How a connection to PostgreSQL is set up, whoever uses it.

import pg from 'pg'

/** A statement that takes longer is ended by the server; nothing we send takes a tenth of that on a sound machine. */
const statementTimeoutMs = 60_000
/** If the server itself says nothing, as when its machine is gone without a word. */
const answerTimeoutMs = 70_000
const connectTimeoutMs = 5000

// Every statement is written for an index. Asked before there are statistics, the planner would rather read small
// tables whole and keep that plan while they grow. Joins run in the order in which they are written.
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
  // A node that stands still inside a transaction must not keep the others waiting for its locks. They end its
  // connections when it is silent for long; this is for the case that there are none. A million devices take seconds.
  idle_in_transaction_session_timeout: '30000',
}

const bytea = 17
const int8 = 20

/** All our 64-bit numbers are below 2^53. Set for our connections only: others in the process may want text. */
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

/** Under which its connections can be found. */
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
    // What is sent need not wait for the answer to what was sent before.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
  }
}

const names = new Map<string, string>()

/** Each statement is prepared once on each connection, under a name that is the same on all. */
export function prepared(sql: string, values: readonly unknown[]): pg.QueryConfig {
  let name = names.get(sql)
  if (name === undefined) {
    name = `s${names.size + 1}`
    names.set(sql, name)
  }
  return { name, text: sql, values: values as unknown[] }
}
