// Writes state changes of executions (see domain/execution/move-batch.ts): the statements are sent, and the commit waits for them.

import { execStates } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution/execution.ts'
import type { ExecutionChange } from '../../domain/execution/execution-move.ts'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import { toWritten, UPDATE_EXECUTION } from '../live-executions.ts'
import { columnOf, insertInto, recordSet, type Writes } from '../queries.ts'
import { number } from '../schema/column.ts'
import { output, run, transition } from '../schema/tables.ts'
import { PUT_OUTPUT_STATE } from '../tables/output-states.ts'
import { countFields } from '../tables/run-fields.ts'

const INSERT_TRANSITIONS = insertInto(transition.fields)
const INSERT_PIECES = `
  INSERT INTO output (execution_id, attempt, start, data)
  SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:attempts AS int[]), CAST(:starts AS int[]), CAST(:data AS bytea[]))`
const DROP_OUTPUT =
  `DELETE FROM output USING ${recordSet('dropped', output.pick('jobExecutionId', 'attempt'))}
  WHERE execution_id = record."jobExecutionId" AND output.attempt = record.attempt` as const
// Updates the counts of all runs that a transaction changes, in one statement.
const added = execStates.map((state) => {
  const { sql } = countFields[state]
  return { state, column: columnOf({ sql }), sum: `${sql} + record."${state}"` }
})
const unfinished = added.filter(({ state }) => !isTerminal(state)).map(({ sum }) => sum)
const IS_ENDED = `(${unfinished.join(' + ')} = 0)` as const
const COUNT = `
  UPDATE run SET ${added.map(({ column, sum }) => `${column} = ${sum}`).join(', ')},
    ended = ${IS_ENDED}, ended_at = CASE WHEN ${IS_ENDED} THEN record."endsAt" END
  FROM ${recordSet('runs', { ...run.pick('runId'), endsAt: number(), ...countFields })} WHERE run.run_id = record."runId"` as const

/** The required part of a transaction. */
type Sending = {
  readonly named: Pick<Writes, 'send' | 'sendRows'>
  readonly events: { push(change: ExecutionChange): unknown }
  readonly touchedRuns: { push(run: { runId: number; at: number }): unknown }
}

export function sendMoves(transaction: Sending, writes: MoveWrites): void {
  const { executions, withOutput, pieces, droppedOutputs, outputStates, transitions, changes, runs } = writes
  const { named } = transaction
  named.sendRows(UPDATE_EXECUTION, [...executions, ...withOutput].map(toWritten))
  if (droppedOutputs.length > 0) named.send(DROP_OUTPUT, { dropped: droppedOutputs })
  if (pieces.length > 0) {
    named.send(INSERT_PIECES, {
      ids: pieces.map(({ jobExecutionId }) => jobExecutionId),
      attempts: pieces.map(({ attempt }) => attempt),
      starts: pieces.map(({ start }) => start),
      data: pieces.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.length)),
    })
  }
  named.sendRows(PUT_OUTPUT_STATE, outputStates)
  named.sendRows(INSERT_TRANSITIONS, transitions)
  for (const change of changes) transaction.events.push(change)
  if (runs.length === 0) return
  named.send(COUNT, { runs: runs.map(({ counts, ...run }) => ({ ...run, ...counts })) })
  // Executions of a finished run do not change, so each run ends in exactly one transaction.
  for (const { runId, endsAt } of runs) {
    if (endsAt !== null) transaction.touchedRuns.push({ runId, at: endsAt })
  }
}
