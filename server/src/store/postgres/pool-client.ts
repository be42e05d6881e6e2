// Uses a connection of a pool.

import type pg from 'pg'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { prepared } from './connect.ts'
import { failureOf } from './failures.ts'
import type { Row } from './rows.ts'

/** `discard`: the connection is not used again. */
export type OnClient<T> = (client: pg.PoolClient, discard: () => void) => Promise<T>

export async function withClient<T>(pool: pg.Pool, work: OnClient<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new StorageUnavailable(error)
  })
  let isSound = true
  // A connection in use has no error listener of the pool; without one, a broken connection would end the process.
  const discard = () => {
    isSound = false
  }
  client.on('error', discard)
  try {
    return await work(client, discard)
  } catch (error) {
    // A connection that failed may be in any state. An error from the server leaves it usable.
    if (error instanceof StorageUnavailable) isSound = false
    throw error
  } finally {
    client.off('error', discard)
    client.release(!isSound)
  }
}

export async function ask(
  client: pg.ClientBase,
  sql: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    return await client.query<Row>(prepared(sql, values))
  } catch (error) {
    throw failureOf(error)
  }
}
