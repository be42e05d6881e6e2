import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { ExecutionEvent } from '../../domain/execution.ts'
import type { StoredTransition } from '../../domain/store.ts'

const CREATED = `
  SELECT launched_at, key_id FROM execution JOIN run USING (run_id)
  WHERE execution_id = ? AND execution.owner_no = ?`
const LIST = `
  SELECT version_number, at, from_state, to_state, event, actor, attempt FROM transition
  WHERE execution_id = ? ORDER BY version_number`

export function prepareTransitions(db: DatabaseSync) {
  const created = db.prepare(CREATED)
  const list = db.prepare(LIST)

  return {
    listTransitions(input: { ownerNo: number; jobExecutionId: number }): StoredTransition[] | undefined {
      const creation = created.get(input.jobExecutionId, input.ownerNo)
      if (creation === undefined) return undefined
      const first: StoredTransition = {
        at: creation.launched_at as number,
        from: null,
        to: 'PENDING',
        event: 'trigger',
        // Runs from before keys were noted do not tell which one it was.
        actor: creation.key_id === null ? 'key' : `key ${creation.key_id}`,
        attempt: 1,
        versionNumber: 1,
      }
      const moves = list.all(input.jobExecutionId).map((row) => ({
        at: row.at as number,
        from: row.from_state as ExecState,
        to: row.to_state as ExecState,
        event: row.event as ExecutionEvent,
        actor: row.actor as string,
        attempt: row.attempt as number,
        versionNumber: row.version_number as number,
      }))
      return [first, ...moves]
    },
  }
}
