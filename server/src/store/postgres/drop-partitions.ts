// Drops partitions of `execution` in which every run is purged. This blocks no other transaction: a partition is detached
// concurrently, which waits for transactions that use it, and only then dropped. If this does not succeed, because of a long
// transaction or a crash, it is repeated later.

import { flag, rows } from '../schema/column.ts'
import { partition } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { isLockTimeout } from './failures.ts'
import { locks } from './locks.ts'
import { partitionName } from './partitions.ts'
import type { Queries } from './rows.ts'

const TRY_LOCK = `SELECT pg_try_advisory_lock(${locks.retention}, 0) AS "isOurs"` as const
const LOCK = rows({ isOurs: flag() })
// Only partitions whose ids were assigned long ago, so that triggers that took some of them have ended.
const LEFT = `
  SELECT old.first_id AS "firstId", old.end_id AS "endId" FROM execution_partition AS old
    JOIN execution_partition AS next ON next.first_id = old.end_id
  WHERE next.began_at < $1 AND old.end_id <= (SELECT execution_id FROM last_id) ORDER BY old.first_id`
const edge = (order: 'ASC' | 'DESC') => `
  SELECT run_id FROM execution WHERE execution_id >= $1 AND execution_id < $2 ORDER BY execution_id ${order} LIMIT 1`
// Ids of runs and executions grow together: the runs with executions in the partition are between these two. A run with
// executions in two partitions keeps both.
const IS_EMPTY = `
  SELECT NOT EXISTS (SELECT FROM run WHERE run_id BETWEEN (${edge('ASC')}) AND (${edge('DESC')}))
    AND NOT EXISTS (
      SELECT FROM purged_range WHERE first_execution_id < $2 AND last_execution_id >= $1) AS "isEmpty"` as const
const FOUND = rows({ isEmpty: flag() })
const DETACHING = `
  SELECT inhrelid::regclass::text AS name FROM pg_inherits
  WHERE inhparent = 'execution'::regclass AND inhdetachpending`
const DETACHED = `
  SELECT first_id AS "firstId" FROM execution_partition WHERE NOT EXISTS (
    SELECT FROM pg_inherits
    WHERE inhparent = 'execution'::regclass AND inhrelid = to_regclass('execution_from_' || first_id))`
const NOTE_DROP = 'DELETE FROM execution_partition WHERE first_id = $1'

const { firstId, endId } = partition.fields
const RANGE = rows({ firstId, endId })
const FIRST = rows({ firstId })

const lockTimeoutMs = 2000

/** True while there may be more. */
export async function dropPartitions(db: Database, endedBefore: number): Promise<boolean> {
  // Usually there is none, so no separate connection is opened for the check.
  const left = await db.query(LEFT, [endedBefore])
  if (left.length === 0 && (await db.query(DETACHED)).length === 0) return false
  return db.onOwnConnection(lockTimeoutMs, async (connection) => {
    const [lock] = await connection.query(TRY_LOCK)
    if (!LOCK.read(lock ?? {}).isOurs) return false
    try {
      await finish(connection)
      for (const { firstId, endId } of (await connection.query(LEFT, [endedBefore])).map(RANGE.read)) {
        const [found] = await connection.query(IS_EMPTY, [firstId, endId])
        if (!FOUND.read(found ?? {}).isEmpty) continue
        await connection.query(
          `ALTER TABLE execution DETACH PARTITION ${partitionName(firstId)} CONCURRENTLY`,
        )
        await finish(connection)
      }
      return false
    } catch (error) {
      if (isLockTimeout(error)) return false
      throw error
    }
  })
}

/** Drops detached partitions, including those that another process has detached. */
async function finish(connection: Queries): Promise<void> {
  for (const { name } of await connection.query(DETACHING)) {
    await connection.query(`ALTER TABLE execution DETACH PARTITION ${name} FINALIZE`)
  }
  for (const { firstId } of (await connection.query(DETACHED)).map(FIRST.read)) {
    await connection.query('BEGIN')
    await connection.query(`DROP TABLE IF EXISTS ${partitionName(firstId)}`)
    await connection.query(NOTE_DROP, [firstId])
    await connection.query('COMMIT')
  }
}
