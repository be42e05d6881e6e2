// Template databases on PostgreSQL, and nodes on them. Each measurement gets its own copy.

import { newSecretText } from '@jobcast/server'
import pg from 'pg'
import { type Jobcast, startJobcast } from '../jobcast.ts'
import { removeFolder, temporaryFolder } from '../processes.ts'
import { putFleet } from '../stored.ts'

/** Accepted by all nodes. */
const adminKey = newSecretText('jc').text

const template = 'jobcast_fleet'
let copies = 0

export type Databases = {
  /** A copy with the job and the fleet, on disk before it is returned. */
  copy(): Promise<string>
  /** A database without tables. */
  empty(): Promise<string>
  drop(url: string): Promise<void>
}

/** `server` is the address of a database to connect to. */
export async function buildDatabases(server: string): Promise<Databases> {
  await execute(server, `CREATE DATABASE ${template}`)
  const node = await startNode(addressOf(server, template))
  await putFleet(node)
  await node.end('SIGTERM')
  const create = async (from: string) => {
    const name = `jobcast_copy_${++copies}`
    await execute(server, `CREATE DATABASE ${name} TEMPLATE ${from}`)
    await execute(server, 'CHECKPOINT')
    return addressOf(server, name)
  }
  return {
    copy: () => create(template),
    empty: () => create('template1'),
    async drop(url) {
      await execute(server, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
    },
  }
}

export async function startNode(databaseUrl: string, ...flags: string[]): Promise<Jobcast> {
  const folder = temporaryFolder()
  const env = { DATABASE_URL: databaseUrl, JOBCAST_ADMIN_KEY: adminKey }
  const node = await startJobcast(folder, { flags, env })
  return {
    ...node,
    async end(signal) {
      await node.end(signal)
      removeFolder(folder)
    },
  }
}

export async function execute(url: string, sql: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await client.query(sql, values)
  } finally {
    await client.end()
  }
}

function addressOf(server: string, name: string): string {
  return server.replace(/[^/]+$/, name)
}
