// Moves that an owner asks for: of one execution, and of a run. What a deleted device has left is in devices.ts.

import type { Store } from '../../domain/store.ts'
import { batchSize } from '../apply-moves.ts'
import { LIVE, RUN_RANGE } from '../live-executions.ts'
import { executionReads } from '../tables/executions.ts'
import type { Database } from './database.ts'
import { LIVE_JOINS } from './live-executions.ts'
import { inBatch } from './moves.ts'
import type { Policies } from './policies.ts'

const RUN = `SELECT ${RUN_RANGE} FROM run WHERE run_id = $1 AND owner_no = $2`
const UNFINISHED = `
  SELECT ${LIVE} FROM execution ${LIVE_JOINS}
  WHERE execution_id BETWEEN $1 AND $2 AND state <= 'CANCELING'
  ORDER BY execution_id LIMIT ${batchSize} FOR UPDATE OF execution`

export function buildOwnerMoveSteps(
  db: Database,
  policies: Policies,
): Pick<Store, 'moveExecution' | 'moveRun'> {
  return {
    moveExecution(move) {
      return db.inTransaction(async (transaction) => {
        const outcome = await inBatch(transaction, policies, async (moves) => {
          await moves.lockById([move.jobExecutionId])
          return moves.batch.moveOwn(move)
        })
        if (outcome.kind !== 'moved') return outcome
        const execution = await executionReads.getExecution(transaction.named, move)
        const { from } = outcome.moved
        return execution ? { kind: 'moved', execution, from } : { kind: 'unknown-execution' }
      })
    },
    moveRun({ ownerNo, runId, from, ...move }) {
      return db.inTransaction((transaction) =>
        inBatch(transaction, policies, async (moves) => {
          const [row] = await transaction.query(RUN, [runId, ownerNo])
          if (row === undefined) return undefined
          const { first, last } = RUN_RANGE.read(row)
          const found = await moves.lock(UNFINISHED, [from ?? first, last])
          const next = found.length < batchSize ? undefined : (found.at(-1)?.jobExecutionId ?? last) + 1
          return { moved: moves.batch.moveAll(found, move), next }
        }),
      )
    },
  }
}
