// The parent's side of PostgreSQL, and a clean start for each measurement.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

type Postgres = { url: string; end(): Promise<void> }

export async function startPostgres(): Promise<Postgres> {
  const program = fileURLToPath(new URL('postgres-process.ts', import.meta.url))
  // Detached, so that Ctrl-C does not reach it: it shuts down properly once this process has ended.
  const child = fork(program, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const failed = gone.then(() => Promise.reject(new Error('PostgreSQL did not start')))
  const [message] = await Promise.race([once(child, 'message'), failed])
  failed.catch(() => undefined)
  const { port } = message as { port: number }
  return {
    url: `postgres://bench:bench@127.0.0.1:${port}/postgres`,
    async end() {
      child.disconnect()
      await gone
    },
  }
}

/** Deletes the data of an earlier measurement, and syncs the deletion. */
export async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await client.query('CHECKPOINT')
  await client.end()
}
