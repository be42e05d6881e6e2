// The counts of runs change with the executions in them: one update for all runs that a transaction touches.

import { type ExecState, execStates } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution.ts'
import type { RunChange } from '../../domain/run-counts.ts'
import { countColumn } from '../schema/count-column.ts'
import type { Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const columns = execStates.map(countColumn)
const unfinished = execStates.filter((state) => !isTerminal(state)).map(countColumn)
const IS_ENDED = `(${unfinished.map((column) => `run.${column} + new.${column}`).join(' + ')} = 0)`
const UPDATE = `
  UPDATE run SET ${columns.map((column) => `${column} = run.${column} + new.${column}`).join(', ')},
    ended = ${IS_ENDED}, ended_at = CASE WHEN ${IS_ENDED} THEN new.ended_at END
  FROM json_to_recordset($1::json) AS new (run_id bigint, ended_at bigint, ${columns.map((column) => `${column} int`).join(', ')})
  WHERE run.run_id = new.run_id`

export function writeRunCounts(transaction: Transaction, changes: RunChange[]): void {
  if (changes.length === 0) return
  transaction.send(UPDATE, [JSON.stringify(changes.map(toRow))])
  // Nothing moves in a run that has ended, so whoever brings it there is the only one.
  for (const { runId, endsAt } of changes) {
    if (endsAt !== null) transaction.touchedRuns.push({ run_id: runId, at: endsAt })
  }
}

function toRow({ runId, counts, endsAt }: RunChange): Row {
  const ofStates = Object.entries(counts).map(([state, count]) => [countColumn(state as ExecState), count])
  return { ...Object.fromEntries(ofStates), run_id: runId, ended_at: endsAt }
}
