import type { ExecState } from '@jobcast/contract'
import type { ExecutionEvent } from '../../domain/execution.ts'
import type { Store, StoredTransition } from '../../domain/store.ts'
import type { Database } from './database.ts'
import type { Row } from './rows.ts'

// One statement, so that its creation and its moves are of one instant.
const LIST = `
  SELECT launched_at, key_id, transition.version_number, at, from_state, to_state, event, actor, transition.attempt
  FROM execution JOIN run ON run.run_id = execution.run_id
    LEFT JOIN transition ON transition.execution_id = execution.execution_id
  WHERE execution.execution_id = $1 AND execution.owner_no = $2 ORDER BY transition.version_number`

export function buildTransitionSteps(db: Database): Pick<Store, 'listTransitions'> {
  return {
    async listTransitions({ ownerNo, jobExecutionId }) {
      const rows = await db.query(LIST, [jobExecutionId, ownerNo])
      const [creation] = rows
      if (creation === undefined) return undefined
      const first: StoredTransition = {
        at: creation.launched_at as number,
        from: null,
        to: 'PENDING',
        event: 'trigger',
        // Runs from before keys were noted, on the embedded store, do not tell which one it was.
        actor: creation.key_id === null ? 'key' : `key ${creation.key_id}`,
        attempt: 1,
        versionNumber: 1,
      }
      return [first, ...rows.filter((row) => row.at !== null).map(toTransition)]
    },
  }
}

function toTransition(row: Row): StoredTransition {
  return {
    at: row.at as number,
    from: row.from_state as ExecState,
    to: row.to_state as ExecState,
    event: row.event as ExecutionEvent,
    actor: row.actor as string,
    attempt: row.attempt as number,
    versionNumber: row.version_number as number,
  }
}
