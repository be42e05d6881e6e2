// The counts of runs change with the executions in them: one update for all runs that a transaction touches.

import { type ExecState, execStates } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution.ts'
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

export type CountedMove = { runId: number; from: ExecState; to: ExecState; at: number }
type Change = { row: Row & { run_id: number }; endedAt: number | undefined }

export function writeCounts(transaction: Transaction, moves: CountedMove[]): void {
  if (moves.length === 0) return
  const changes = new Map<number, Change>()
  for (const { runId, from, to, at } of moves) {
    const change = changes.get(runId) ?? newChange(runId)
    changes.set(runId, change)
    add(change.row, from, -1)
    add(change.row, to, 1)
    if (isTerminal(to)) change.endedAt = at
  }
  const rows = [...changes.values()].map(toRow).sort((a, b) => a.run_id - b.run_id)
  transaction.send(UPDATE, [JSON.stringify(rows)])
  // Nothing moves in a run that has ended, so whoever brings it there is the only one.
  for (const [runId, { endedAt }] of changes) {
    if (endedAt !== undefined) transaction.touchedRuns.push({ run_id: runId, at: endedAt })
  }
}

function toRow({ row, endedAt }: Change): Change['row'] {
  return { ...row, ended_at: endedAt ?? null }
}

function newChange(runId: number): Change {
  const row = { ...Object.fromEntries(columns.map((column) => [column, 0])), run_id: runId }
  return { row, endedAt: undefined }
}

function add(row: Row, state: ExecState, change: number): void {
  const column = countColumn(state)
  row[column] = (row[column] as number) + change
}
