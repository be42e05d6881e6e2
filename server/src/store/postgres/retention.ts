// Forgets runs that ended long ago. A run goes at once, so that nobody sees half of it; history and output follow a bite
// at a time; executions stay, unseen, until all of their partition are forgotten, and go with it (drop-partitions.ts).
// One node at a time does it; the others pass on.

import type { Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { dropPartitions } from './drop-partitions.ts'
import { forgetKeys } from './idempotency-keys.ts'
import { locks } from './locks.ts'
import { numbers, type Queries, type Row } from './rows.ts'

const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${locks.retention}, 0) AS is_ours`
const LOOK = `
  SELECT run_id, launched_at, ended_at, first_execution_id AS first, first_execution_id + total - 1 AS last FROM run
  WHERE run_id > $1 ORDER BY run_id LIMIT $2`
const FORGET_RUNS = 'DELETE FROM run USING unnest($1::bigint[]) AS old (run_id) WHERE run.run_id = old.run_id'
const NOTE = `
  INSERT INTO forgotten_range (first_execution_id, last_execution_id) SELECT * FROM unnest($1::bigint[], $2::bigint[])`
const RANGE = `
  SELECT first_execution_id AS first, last_execution_id AS last FROM forgotten_range
  ORDER BY first_execution_id LIMIT 1`
const SHORTEN = 'UPDATE forgotten_range SET first_execution_id = $1 WHERE first_execution_id = $2'
const RANGE_DONE = 'DELETE FROM forgotten_range WHERE first_execution_id = $1'
const IN_RANGE = `
  SELECT execution_id, output_bytes FROM execution WHERE execution_id BETWEEN $1 AND $2 ORDER BY execution_id LIMIT $3`
const ERASE = ['transition', 'output'].map(
  (table) => `DELETE FROM ${table} WHERE execution_id BETWEEN $1 AND $2`,
)
const OLDEST_RUN = 'SELECT first_execution_id AS id FROM run WHERE run_id > 0 ORDER BY run_id LIMIT 1'
// Whoever sees a rename sees all executions that were given ids before it (catalogue.ts). So one statement, which sees
// one state of the database, does not take a name away from an execution that is just being made.
const FORGET_RENAMES = `
  WITH looked_at AS MATERIALIZED (
    SELECT device_no, last_execution_id FROM device_rename WHERE (device_no, last_execution_id) > ($1, $2)
    ORDER BY device_no, last_execution_id LIMIT $3),
  forgotten AS (
    DELETE FROM device_rename USING looked_at
    WHERE device_rename.device_no = looked_at.device_no
      AND device_rename.last_execution_id = looked_at.last_execution_id
      AND looked_at.last_execution_id < coalesce((${OLDEST_RUN}), ${Number.MAX_SAFE_INTEGER}))
  SELECT device_no, last_execution_id FROM looked_at ORDER BY device_no, last_execution_id`

/** How many runs, or renames, one look goes through. */
const lookedAt = 1000
const executionsAtOnce = 2000
const outputBytesAtOnce = 16 * 1024 * 1024

type Range = { first: number; last: number }

export function buildRetentionSteps(db: Database): Pick<Store, 'purgeRuns'> {
  /** Where the next look begins: behind runs that have not ended, however many there are. */
  let place = 0
  let renamePlace: [number, number] | undefined
  /** Renames were looked through when this execution was the oldest. */
  let renamesDoneAt: number | undefined

  /** False at the end of a pass. */
  async function forgetSome(transaction: Queries, endedBefore: number): Promise<boolean> {
    const runs = await transaction.query(LOOK, [place, lookedAt])
    const old = runs.filter((run) => run.ended_at !== null && (run.ended_at as number) < endedBefore)
    if (old.length > 0) {
      const ranges = rangesOf(old)
      await transaction.query(FORGET_RUNS, [numbers(old.map((run) => run.run_id as number))])
      await transaction.query(NOTE, [
        numbers(ranges.map(({ first }) => first)),
        numbers(ranges.map(({ last }) => last)),
      ])
    }
    // Ids grow with time: behind a look at nothing but newer runs there are no older ones.
    const isLast =
      runs.length < lookedAt || runs.every(({ launched_at }) => (launched_at as number) >= endedBefore)
    place = isLast ? 0 : (runs.at(-1)?.run_id as number)
    return !isLast || old.length > 0
  }

  /** False when all were looked at. */
  async function forgetSomeRenames(transaction: Queries): Promise<boolean> {
    const [oldest] = await transaction.query(OLDEST_RUN)
    const id = (oldest?.id as number | undefined) ?? Number.MAX_SAFE_INTEGER
    if (id === renamesDoneAt) return false
    const rows = await transaction.query(FORGET_RENAMES, [...(renamePlace ?? [0, 0]), lookedAt])
    const last = rows.at(-1)
    const isLast = rows.length < lookedAt
    renamePlace =
      isLast || last === undefined ? undefined : [last.device_no as number, last.last_execution_id as number]
    if (isLast) renamesDoneAt = id
    return !isLast
  }

  return {
    async purgeRuns({ endedBefore }) {
      const left = await db.inTransaction(async (transaction) => {
        const [lock] = await transaction.query(TRY_LOCK)
        if (!lock?.is_ours) return 'to another node' as const
        const more =
          (await forgetKeys(transaction, endedBefore)) ||
          (await eraseSome(transaction)) ||
          (await forgetSome(transaction, endedBefore)) ||
          (await forgetSomeRenames(transaction))
        return more ? ('rows' as const) : ('partitions' as const)
      })
      if (left !== 'partitions') return left === 'rows'
      return dropPartitions(db, endedBefore)
    },
  }
}

/** False when nothing is left to erase. */
async function eraseSome(transaction: Queries): Promise<boolean> {
  let executions = executionsAtOnce
  let bytes = outputBytesAtOnce
  let range = await firstRange(transaction)
  if (range === undefined) return false
  while (range !== undefined && executions > 0 && bytes > 0) {
    const { first, last }: Range = range
    let next = last + 1
    for (const row of await transaction.query(IN_RANGE, [first, last, executions + 1])) {
      if (executions <= 0 || bytes <= 0) {
        next = row.execution_id as number
        break
      }
      executions--
      bytes -= row.output_bytes as number
    }
    for (const sql of ERASE) await transaction.query(sql, [first, next - 1])
    if (next <= last) await transaction.query(SHORTEN, [next, first])
    else await transaction.query(RANGE_DONE, [first])
    range = await firstRange(transaction)
  }
  return true
}

async function firstRange(transaction: Queries): Promise<Range | undefined> {
  const [row] = await transaction.query(RANGE)
  return row as Range | undefined
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
