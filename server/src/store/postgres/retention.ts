// Purges runs that ended long ago (tables/retention.ts), one node at a time; other nodes skip this.

import type { Store } from '../../domain/common/ports/store.ts'
import { flag, rows } from '../schema/column.ts'
import { RunPurge } from '../tables/retention.ts'
import type { Database } from './database.ts'
import { dropPartitions } from './drop-partitions.ts'
import { locks } from './locks.ts'

const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${locks.retention}, 0) AS "isOurs"` as const
const LOCK = rows({ isOurs: flag() })

const limits = { rows: 1000, executions: 2000, outputBytes: 16 * 1024 * 1024 }

export function buildRetentionSteps(db: Database): Pick<Store, 'purgeRuns' | 'eraseLeftovers'> {
  const purge = new RunPurge(limits)
  return {
    async purgeRuns(age) {
      const left = await db.inTransaction(async ({ named }) => {
        const { isOurs } = await named.one(LOCK, TRY_LOCK)
        if (!isOurs) return 'to another node' as const
        return (await purge.purgeSome(named, age)) ? ('rows' as const) : ('partitions' as const)
      })
      if (left !== 'partitions') return left === 'rows'
      return dropPartitions(db, age.endedBefore)
    },
    /** There are no leftovers of large runs, because they are rolled back (large-run.ts). */
    eraseLeftovers: () =>
      db.inTransaction(async ({ named }) => {
        const { isOurs } = await named.one(LOCK, TRY_LOCK)
        return isOurs && purge.eraseSome(named)
      }),
  }
}
