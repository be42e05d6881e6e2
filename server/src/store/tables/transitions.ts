import { actorOf } from '../../domain/access/caller.ts'
import type { StoredTransition } from '../../domain/execution/ports/executions.ts'
import { computed, orNull, select, text } from '../schema/column.ts'
import { run, transition } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

// An execution without transitions has one row without these fields.
const LISTED = select({
  ...run.pick('launchedAt', 'keyId'),
  ...transition.pick('versionNumber', 'from', 'to', 'event', 'actor', 'attempt'),
  ...transition.pick('reason'),
  at: orNull(transition.fields.at),
  actorName: computed('actor_key.key_name', orNull(text())),
  creatorName: computed('creator_key.key_name', orNull(text())),
})
// One statement, so that creation and transitions are read consistently.
const LIST = `
  SELECT ${LISTED} FROM execution JOIN run ON run.run_id = execution.run_id
    LEFT JOIN api_key AS creator_key ON creator_key.key_id = run.key_id
    LEFT JOIN transition ON transition.execution_id = execution.execution_id
    LEFT JOIN api_key AS actor_key ON actor_key.key_id = substr(transition.actor, 5) AND transition.actor LIKE 'key %'
  WHERE execution.execution_id = :jobExecutionId AND execution.owner_no = :ownerNo
  ORDER BY transition.version_number` as const

export const transitionReads: ReadSteps<'listTransitions'> = {
  async listTransitions(queries, { ownerNo, jobExecutionId }) {
    const found = await queries.all(LISTED, LIST, { ownerNo, jobExecutionId })
    const [creation] = found
    if (creation === undefined) return undefined
    const first: StoredTransition = {
      at: creation.launchedAt,
      from: null,
      to: 'PENDING',
      event: 'trigger',
      // Runs from before keys were recorded do not have one.
      actor: creation.keyId === null ? 'key' : actorOf({ keyId: creation.keyId }),
      actorName: creation.creatorName,
      attempt: 1,
      versionNumber: 1,
      reason: null,
    }
    const moves = found.flatMap(({ launchedAt, keyId, creatorName, at, ...move }): StoredTransition[] =>
      at === null ? [] : [{ at, ...move }],
    )
    return [first, ...moves]
  },
}
