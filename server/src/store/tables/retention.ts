// Purges runs that ended long ago. The row of a run is deleted at once, so that no reader sees a part of it; its executions and
// their data follow in batches, so that other steps can run in between. On PostgreSQL executions remain, invisible, until
// their whole partition is purged and dropped (postgres/drop-partitions.ts).

import { latestCredible } from '../../domain/common/instants.ts'
import { inBoth, type Queries, type Sql, type Writes } from '../queries.ts'
import { computed, number, rows, select } from '../schema/column.ts'
import { deviceRename, execution, lastId, purgedRange, run } from '../schema/tables.ts'
import { idempotencyKeyWrites } from './idempotency-keys.ts'
import type { Input } from './step.ts'

const last = computed('first_execution_id + total - 1', number())
const RUN = select({
  ...run.pick('runId', 'launchedAt', 'endedAt'),
  first: run.fields.firstExecutionId,
  last,
})
const NEXT_RUNS = `SELECT ${RUN} FROM run WHERE run_id > :after ORDER BY run_id LIMIT :limit` as const
const PURGE_RUNS = inBoth(({ isIn }) => `DELETE FROM run WHERE ${isIn('run_id', 'runIds', 'bigint')}`)
const PURGE_OF_RUNS = ['run_request', 'run_parameters', 'rollout', 'rollout_release'].map((table) =>
  inBoth(({ isIn }) => `DELETE FROM ${table} WHERE ${isIn('run_id', 'runIds', 'bigint')}`),
)
const NOTE = inBoth(
  ({ records }) => `
  INSERT INTO purged_range (first_execution_id, last_execution_id)
  SELECT first, last FROM ${records('ranges', purgedRange.fields)}`,
)
const RANGE = select(purgedRange.fields)
const FIRST_RANGE = `SELECT ${RANGE} FROM purged_range ORDER BY first_execution_id LIMIT 1` as const
const SHORTEN = 'UPDATE purged_range SET first_execution_id = :next WHERE first_execution_id = :first'
const RANGE_DONE = 'DELETE FROM purged_range WHERE first_execution_id = :first'
const PURGED = select(execution.pick('jobExecutionId', 'outputBytes'))
const IN_RANGE = `
  SELECT ${PURGED} FROM execution WHERE execution_id BETWEEN :first AND :last ORDER BY execution_id LIMIT :limit` as const
const eraseFrom = (table: string) =>
  `DELETE FROM ${table} WHERE execution_id BETWEEN :first AND :last` as const
const ERASE: Sql[] = [
  eraseFrom('transition'),
  eraseFrom('output'),
  eraseFrom('masked_output'),
  inBoth(({ is }) => (is === 'sqlite' ? eraseFrom('execution') : '')),
]
const OLDEST_RUN = 'SELECT first_execution_id FROM run WHERE run_id > 0 ORDER BY run_id LIMIT 1'
const OLDEST =
  `SELECT coalesce((${OLDEST_RUN}), ${lastId.fields.jobExecutionId.sql} + 1) AS id FROM last_id` as const
const RENAME = select(deviceRename.pick('deviceNo', 'lastExecutionId'))
const NEXT_RENAMES = `
  SELECT ${RENAME} FROM device_rename WHERE (device_no, last_execution_id) > (:deviceNo, :lastExecutionId)
  ORDER BY device_no, last_execution_id LIMIT :limit` as const
// A transaction that sees a rename also sees all executions that got ids before it (postgres/catalogue.ts). So a single
// statement, which sees one state of the database, does not remove the name of an execution that is just being created.
const PURGE_RENAMES = `
  DELETE FROM device_rename
  WHERE (device_no, last_execution_id) > (:deviceNo, :lastExecutionId)
    AND (device_no, last_execution_id) <= (:lastDeviceNo, :lastOfAll)
    AND last_execution_id < coalesce((${OLDEST_RUN}), ${Number.MAX_SAFE_INTEGER})` as const

type RunAge = Input<'purgeRuns'>
type Range = { first: number; last: number }
type RenameKey = { deviceNo: number; lastExecutionId: number }
const firstRename: RenameKey = { deviceNo: 0, lastExecutionId: 0 }

/** Limits per call. */
type PurgeLimits = {
  /** Runs, or renames. */
  rows: number
  executions: number
  /** Limited, because deleting a large piece reads all of its pages. */
  outputBytes: number
}

export class RunPurge {
  readonly #limits: PurgeLimits
  /** Where the next call begins, so that unfinished runs are skipped. */
  #cursor = 0
  #renameCursor = firstRename
  /** All renames were read when this execution was the oldest. */
  #renamesDoneAt = 0

  constructor(limits: PurgeLimits) {
    this.#limits = limits
  }

  /** True while there may be more. */
  async purgeSome(queries: Writes, age: RunAge): Promise<boolean> {
    return (
      (await idempotencyKeyWrites.purgeIdempotencyKeys(queries, { olderThan: age.keysOlderThan })) ||
      (await this.eraseSome(queries)) ||
      (await this.#purgeRuns(queries, age)) ||
      (await this.#purgeRenames(queries))
    )
  }

  /** Must be called when the transaction of a call is rolled back. */
  reset(): void {
    this.#cursor = 0
    this.#renameCursor = firstRename
    this.#renamesDoneAt = 0
  }

  /** False at the end of a pass. */
  async #purgeRuns(queries: Queries, { endedBefore, now }: RunAge): Promise<boolean> {
    const limit = this.#limits.rows
    const runs = await queries.all(RUN, NEXT_RUNS, { after: this.#cursor, limit })
    // Ids grow with time: after the first run that is not old enough, no run is older, regardless of its dates.
    const credible = latestCredible(now)
    const firstNew = runs.findIndex(({ launchedAt }) => launchedAt >= endedBefore && launchedAt <= credible)
    const launchedBefore = firstNew < 0 ? runs : runs.slice(0, firstNew)
    const old = launchedBefore.filter(({ endedAt }) => endedAt !== null && endedAt < endedBefore)
    if (old.length > 0) {
      const runIds = old.map(({ runId }) => runId)
      for (const sql of [PURGE_RUNS, ...PURGE_OF_RUNS]) await queries.run(sql, { runIds })
      await queries.run(NOTE, { ranges: rangesOf(old) })
    }
    const isLast = runs.length < limit || firstNew >= 0
    this.#cursor = isLast ? 0 : (runs.at(-1)?.runId ?? 0)
    return !isLast || old.length > 0
  }

  /** False if nothing is left to erase. */
  async eraseSome(queries: Queries): Promise<boolean> {
    const left = { executions: this.#limits.executions, outputBytes: this.#limits.outputBytes }
    let range = await queries.get(RANGE, FIRST_RANGE)
    if (range === undefined) return false
    while (range !== undefined && left.executions > 0 && left.outputBytes > 0) {
      const { first, last }: Range = range
      const next = await takeFrom(queries, range, left)
      for (const sql of ERASE) await queries.run(sql, { first, last: next - 1 })
      if (next <= last) await queries.run(SHORTEN, { next, first })
      else await queries.run(RANGE_DONE, { first })
      range = await queries.get(RANGE, FIRST_RANGE)
    }
    return true
  }

  /** Purges device names that only purged executions used. False when all were read. */
  async #purgeRenames(queries: Queries): Promise<boolean> {
    const { id: oldest } = await queries.one(rows({ id: number() }), OLDEST)
    if (oldest === this.#renamesDoneAt) return false
    const limit = this.#limits.rows
    const found = await queries.all(RENAME, NEXT_RENAMES, { ...this.#renameCursor, limit })
    const last = found.at(-1)
    if (last) {
      const upTo = { lastDeviceNo: last.deviceNo, lastOfAll: last.lastExecutionId }
      await queries.run(PURGE_RENAMES, { ...this.#renameCursor, ...upTo })
    }
    const isLast = last === undefined || found.length < limit
    this.#renameCursor = isLast ? firstRename : last
    if (isLast) this.#renamesDoneAt = oldest
    return !isLast
  }
}

/** Returns the id after the last one to be erased by this call. */
async function takeFrom(
  queries: Queries,
  { first, last }: Range,
  left: { executions: number; outputBytes: number },
): Promise<number> {
  const limit = left.executions + 1
  for (const { jobExecutionId, outputBytes } of await queries.all(PURGED, IN_RANGE, { first, last, limit })) {
    if (left.executions <= 0 || left.outputBytes <= 0) return jobExecutionId
    left.executions--
    left.outputBytes -= outputBytes
  }
  return last + 1
}

/** Merges adjacent runs to ranges. */
function rangesOf(runs: Range[]): Range[] {
  const ranges: Range[] = []
  for (const { first, last } of runs) {
    const before = ranges.at(-1)
    if (before?.last === first - 1) before.last = last
    else ranges.push({ first, last })
  }
  return ranges
}
