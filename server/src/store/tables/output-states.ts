// The progress of outputs in which secrets are masked (domain/secret/mask-reports.ts).

import { inBoth } from '../queries.ts'
import { computed, number, select } from '../schema/column.ts'
import { execution, maskedOutput } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

// For an output that was not masked before, the received bytes are the stored bytes. Without pieces, the output starts over.
const STATE = select({
  ...execution.pick('attempt'),
  pieces: execution.fields.outputPieces,
  received: computed('coalesce(masked_output.received, execution.output_bytes)', number()),
  ...maskedOutput.pick('held'),
})
const FIND = `
  SELECT ${STATE} FROM execution
    LEFT JOIN masked_output ON masked_output.execution_id = execution.execution_id
      AND masked_output.attempt = execution.attempt AND execution.output_pieces > 0
  WHERE execution.execution_id = :jobExecutionId` as const
/** For `sendRows`. */
export const PUT_OUTPUT_STATE = inBoth(
  ({ is, field, records }) => `
  INSERT INTO masked_output (execution_id, attempt, received, held)
  SELECT ${field('jobExecutionId')}, ${field('attempt')}, ${field('received')}, ${field('held')}
  ${is === 'sqlite' ? 'WHERE true' : `FROM ${records('rows', maskedOutput.fields)}`}
  ON CONFLICT (execution_id) DO UPDATE
    SET attempt = excluded.attempt, received = excluded.received, held = excluded.held`,
)

export const outputStateReads: ReadSteps<'getOutputState'> = {
  getOutputState: (queries, { jobExecutionId }) => queries.get(STATE, FIND, { jobExecutionId }),
}
