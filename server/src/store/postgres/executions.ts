import type { Store } from '../../domain/store.ts'
import { executionReads } from '../tables/executions.ts'
import type { Database } from './database.ts'
import { moving } from './moves.ts'
import type { Policies } from './policies.ts'

export function buildExecutionSteps(db: Database, policies: Policies): Pick<Store, 'moveExecution'> {
  return {
    moveExecution({ ownerNo, jobExecutionId, event, moment, actor }) {
      return db.inTransaction(async (transaction) => {
        const outcome = await moving(transaction, policies, async (moves) => {
          const [before] = await moves.lockById([jobExecutionId])
          if (before === undefined || before.ownerNo !== ownerNo)
            return { kind: 'unknown-execution' as const }
          const from = before.life.execState
          const after = moves.move(before, event, moment, actor)
          return after ? { kind: 'moved' as const, from } : { kind: 'refused' as const, execState: from }
        })
        if (outcome.kind !== 'moved') return outcome
        const execution = await executionReads.getExecution(transaction.named, { ownerNo, jobExecutionId })
        return execution ? { ...outcome, execution } : { kind: 'unknown-execution' }
      })
    },
  }
}
