// PostgreSQL for tests: a server, and databases on it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openStore } from '@jobcast/server'
import pg from 'pg'

export type PostgresServer = {
  /** Address without a database. */
  url: string
  /** A database with our tables, which are empty. */
  template: string
  /** Crashes and restarts. */
  restart(): Promise<void>
  /** Copies its current state for a standby that receives nothing more. */
  keepStandby(): Promise<void>
  /** Crashes, and the standby takes over at the same address. It lacks everything committed since keepStandby. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

const template = 'jobcast_template'

const templateOf = (server: string): string => `${server}/${template}`

/** Ends with this process at the latest; in the background it does not keep this process alive. */
export async function startPostgres({ isBackground = false } = {}): Promise<PostgresServer> {
  const program = fileURLToPath(new URL('postgres-process.ts', import.meta.url))
  // Not with the flags of this process: with --test it would run as a test file.
  const child = fork(program, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const failed = gone.then(() => Promise.reject(new Error('PostgreSQL failed; what it wrote stands above')))
  failed.catch(() => undefined)
  const [told] = await Promise.race([once(child, 'message'), failed])
  const { url } = told as { url: string }
  await execute(`${url}/postgres`, `CREATE DATABASE ${template}`)
  const { store } = await openStore({ dataFolder: '', databaseUrl: templateOf(url) }, () => undefined)
  await store.close()
  if (isBackground) {
    child.unref()
    child.channel?.unref()
  }
  const ask = async (step: string) => {
    const done = once(child, 'message')
    child.send(step)
    await Promise.race([done, failed])
  }
  return {
    url,
    template: templateOf(url),
    restart: () => ask('restart'),
    keepStandby: () => ask('keep standby'),
    failOver: () => ask('fail over'),
    async stop() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

/** A separate server for a test file that would disturb others. */
export async function startOwnPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  after(() => server.stop())
  return server
}

let shared: Promise<string> | undefined

/**
 * The server that all tests share (global-setup.ts); a file that runs alone starts its own. Each call returns a new promise,
 * because node:test assigns a test to the file whose promise was awaited last.
 */
export async function sharedPostgres(): Promise<string> {
  const given = process.env.JOBCAST_TEST_POSTGRES
  shared ??= given ? Promise.resolve(given) : startPostgres({ isBackground: true }).then(({ url }) => url)
  return shared
}

let count = 0
/** file_copy takes half the CPU time, but first writes everything in memory to the disk. */
const strategy = tmpdir().startsWith('/dev/shm/') ? 'STRATEGY file_copy' : ''

/** Creates a database with our tables and returns its address. Dropping costs as much as creating: it goes with the server. */
export async function createDatabase(server: string): Promise<string> {
  const name = `jobcast_${process.pid}_${++count}`
  await execute(`${server}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`)
  return `${server}/${name}`
}

/** Uses its own connection. */
export async function execute(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  // The query that is in progress rejects.
  client.on('error', () => undefined)
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}
