// Finds the runs of a list, newest first, if the filter may exclude nearly all of them: a few by an index, or a limited number
// per slice, so that other readers do not wait long.

import type { ExecState } from '@jobcast/contract/words'
import { inBoth, type Queries, type Values } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { run } from '../schema/tables.ts'
import { countFields, unfinishedOn } from './run-fields.ts'

/** Limited, because a slice through millions of runs would delay all other readers. */
export const runsPerSlice = 50_000
/** With more matches, a scan of the newest runs finds enough of them. */
const maxListed = 5000

const STOP = rows({ ...run.pick('runId'), next: number() })
const ID = select(run.pick('runId'))
const UNFINISHED = inBoth(
  ({ is }) =>
    `SELECT ${ID} FROM run WHERE owner_no = :ownerNo AND ${unfinishedOn[is]} LIMIT ${maxListed + 1}`,
)
const ENDED_SINCE = inBoth(
  ({ by }) =>
    `SELECT ${ID} FROM run ${by('run_by_end')} WHERE owner_no = :ownerNo AND ended_at >= :finishedAfter LIMIT ${maxListed + 1}`,
)

/** Runs that ended at or after `finishedAfter`, and with `unfinished` also unfinished ones; undefined if there are many. */
export async function listFinishedAfter(
  queries: Queries,
  { ownerNo, finishedAfter }: { ownerNo: number; finishedAfter: number },
  { unfinished }: { unfinished: boolean },
): Promise<number[] | undefined> {
  // Unfinished runs are read first, so that a run that ends in between is found.
  const open = unfinished ? await queries.all(ID, UNFINISHED, { ownerNo }) : []
  const ended = await queries.all(ID, ENDED_SINCE, { ownerNo, finishedAfter })
  const ids = [...new Set([...open, ...ended].map(({ runId }) => runId))]
  return ids.length > maxListed ? undefined : ids
}

/** The run at which a slice stops; `next` is the first execution after it. Undefined: there are fewer runs. */
export function findStop(queries: Queries, runs: number, where: string[], values: Values) {
  const sql: string = `SELECT run.run_id AS "runId", first_execution_id + total AS next FROM run
  WHERE ${where.join(' AND ')} ORDER BY run.run_id DESC LIMIT 1 OFFSET ${runs}`
  return queries.get(STOP, sql, values)
}

/** The run has at least one execution in one of these states. */
export function hasAnyOf(states: readonly ExecState[]): string {
  return `${states.map((state) => countFields[state].sql).join(' + ')} > 0`
}
