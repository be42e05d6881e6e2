// Forgets runs that ended long ago. A run goes at once, so that nobody sees half of it; its executions and what hangs
// on them follow a bite at a time, so that between two bites the writer gets to everybody else.

import type { DatabaseSync } from 'node:sqlite'
import type { Row } from './rows.ts'

const LOOK = `
  SELECT run_id, launched_at, ended_at, first_execution_id AS first, first_execution_id + total - 1 AS last FROM run
  WHERE run_id > ? ORDER BY run_id LIMIT ?`
const FORGET_RUNS = 'DELETE FROM run WHERE run_id IN (SELECT value FROM json_each(?))'
const NOTE = 'INSERT INTO forgotten_range (first_execution_id, last_execution_id) VALUES (?, ?)'
const RANGE = `
  SELECT first_execution_id AS first, last_execution_id AS last FROM forgotten_range
  ORDER BY first_execution_id LIMIT 1`
const SHORTEN = 'UPDATE forgotten_range SET first_execution_id = ? WHERE first_execution_id = ?'
const RANGE_DONE = 'DELETE FROM forgotten_range WHERE first_execution_id = ?'
const IN_RANGE = `
  SELECT execution_id, output_bytes FROM execution WHERE execution_id BETWEEN ? AND ? ORDER BY execution_id LIMIT ?`
const ERASE = ['transition', 'output', 'execution'].map(
  (table) => `DELETE FROM ${table} WHERE execution_id BETWEEN ? AND ?`,
)
const OLDEST_LEFT = `
  SELECT coalesce(
      (SELECT first_execution_id FROM run WHERE run_id > 0 ORDER BY run_id LIMIT 1), execution_id + 1) AS id
  FROM last_id`
const RENAMES = `
  SELECT device_no, last_execution_id FROM device_rename WHERE (device_no, last_execution_id) > (?, ?)
  ORDER BY device_no, last_execution_id LIMIT ?`
const FORGET_RENAME = 'DELETE FROM device_rename WHERE device_no = ? AND last_execution_id = ?'

/** How many runs, or renames, one look goes through. */
const lookedAt = 500
// With two steps of history each they take the writer 3 ms (npm run bench:retention).
const executionsAtOnce = 500
// Freeing a large piece means reading all of its pages.
const outputBytesAtOnce = 4 * 1024 * 1024

type Range = { first: number; last: number }

/** `forgetKeys` forgets some idempotency keys that are as old; false when there are none. */
export function prepareRetention(db: DatabaseSync, forgetKeys: (olderThan: number) => boolean) {
  const look = db.prepare(LOOK)
  const forget = db.prepare(FORGET_RUNS)
  const note = db.prepare(NOTE)
  const firstRange = db.prepare(RANGE)
  const shorten = db.prepare(SHORTEN)
  const rangeDone = db.prepare(RANGE_DONE)
  const inRange = db.prepare(IN_RANGE)
  const erasers = ERASE.map((sql) => db.prepare(sql))
  const oldestLeft = db.prepare(OLDEST_LEFT)
  const renames = db.prepare(RENAMES)
  const forgetRename = db.prepare(FORGET_RENAME)

  /** Where the next look begins: behind runs that have not ended, however many there are. */
  let place = 0
  let renamePlace: [number, number] | undefined
  /** Renames were looked through when this execution was the oldest. */
  let renamesDoneAt = 0

  /** False at the end of a pass. */
  function forgetSome(endedBefore: number): boolean {
    const runs = look.all(place, lookedAt)
    const old = runs.filter((run) => run.ended_at !== null && (run.ended_at as number) < endedBefore)
    forget.run(JSON.stringify(old.map((run) => run.run_id)))
    for (const { first, last } of rangesOf(old)) note.run(first, last)
    // Ids grow with time: behind a look at nothing but newer runs there are no older ones.
    const isLast =
      runs.length < lookedAt || runs.every(({ launched_at }) => (launched_at as number) >= endedBefore)
    place = isLast ? 0 : (runs.at(-1)?.run_id as number)
    return !isLast || old.length > 0
  }

  /** False when nothing is left to erase. */
  function eraseSome(): boolean {
    let executions = executionsAtOnce
    let bytes = outputBytesAtOnce
    let range = firstRange.get() as Range | undefined
    if (range === undefined) return false
    while (range !== undefined && executions > 0 && bytes > 0) {
      const { first, last } = range
      let next = last + 1
      const rows = inRange.all(first, last, executions + 1)
      for (const row of rows) {
        if (executions <= 0 || bytes <= 0) {
          next = row.execution_id as number
          break
        }
        executions--
        bytes -= row.output_bytes as number
      }
      for (const erase of erasers) erase.run(first, next - 1)
      if (next <= last) shorten.run(next, first)
      else rangeDone.run(first)
      range = firstRange.get() as Range | undefined
    }
    return true
  }

  /** The names that devices had for executions that are gone. False when all were looked at. */
  function forgetSomeRenames(): boolean {
    const oldest = oldestLeft.get()?.id as number
    if (oldest === renamesDoneAt) return false
    const rows = renames.all(...(renamePlace ?? [0, 0]), lookedAt)
    for (const row of rows) {
      const [deviceNo, lastExecutionId] = keyOf(row)
      if (lastExecutionId < oldest) forgetRename.run(deviceNo, lastExecutionId)
    }
    const isLast = rows.length < lookedAt
    renamePlace = isLast ? undefined : keyOf(rows.at(-1) as Row)
    if (isLast) renamesDoneAt = oldest
    return !isLast
  }

  return {
    /** True while there may be more: one call takes a bite that does not hold the writer up. */
    purgeRuns(endedBefore: number): boolean {
      return forgetKeys(endedBefore) || eraseSome() || forgetSome(endedBefore) || forgetSomeRenames()
    },
    /** For when the transaction of a call is taken back. */
    forgetRetentionPlaces(): void {
      place = 0
      renamePlace = undefined
      renamesDoneAt = 0
    },
  }
}

/** Runs that follow each other make one range. */
function rangesOf(runs: Row[]): Range[] {
  const ranges: Range[] = []
  for (const { first, last } of runs as Range[]) {
    const before = ranges.at(-1)
    if (before?.last === first - 1) before.last = last
    else ranges.push({ first, last })
  }
  return ranges
}

function keyOf(row: Row): [number, number] {
  return [row.device_no as number, row.last_execution_id as number]
}
