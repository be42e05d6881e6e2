// Reads the event log from any event on, oldest first.

import type { ExecState } from '@jobcast/contract'
import { shownActor } from '../../domain/access/principal.ts'
import { latestCredible } from '../../domain/common/instants.ts'
import { type EventFilter, passes, type StoredEvent } from '../../domain/event/event.ts'
import { inBoth, type Queries } from '../queries.ts'
import { number, orNull, rows, select } from '../schema/column.ts'
import { device, event, job, owner, run } from '../schema/tables.ts'
import { countFields, pickCounts } from './run-fields.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const EVENT = select({
  ...event.pick('eventId', 'at', 'type', 'runId', 'jobExecutionId', 'from', 'cause', 'actor', 'attempt'),
  ...event.pick('versionNumber', 'details'),
  ...run.pick('total', 'retryOf', 'firstExecutionId'),
  ...{ deviceId: orNull(device.fields.deviceId), jobName: orNull(job.fields.jobName) },
  ...countFields,
})
type EventRow = ReturnType<typeof EVENT.read>

const LIST = `
  SELECT ${EVENT} FROM event LEFT JOIN run ON run.run_id = event.run_id LEFT JOIN job ON job.job_no = run.job_no
    LEFT JOIN device ON device.device_no = event.device_no
  WHERE event.owner_no = :ownerNo AND event_id > :after ORDER BY event_id LIMIT :limit` as const
const BOUNDS = `
  SELECT coalesce((SELECT max(event_id) FROM event WHERE owner_no = :ownerNo), 0) AS newest,
    purged_event_id AS "purgedUpTo"
  FROM owner WHERE owner_no = :ownerNo`
const PURGED_UP_TO = 'SELECT purged_event_id AS "purgedUpTo" FROM owner WHERE owner_no = :ownerNo'
const BOUNDS_ROW = rows({ newest: number(), purgedUpTo: number() })
// Of these runs, those with an execution of the device. PostgreSQL has one index by device for unfinished executions and one
// for the others; SQLite reads the executions of the run.
const has = (which: string) =>
  `EXISTS (
    SELECT 1 FROM execution
    WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 ${which}
      AND device_no = (SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId))` as const
const RUNS_OF_DEVICE = inBoth(({ is, isIn }) => {
  const inEither = () => `${has("AND state <= 'CANCELING'")} OR ${has("AND state > 'CANCELING'")}` as const
  const hasExecution = is === 'sqlite' ? has('') : inEither()
  return `SELECT run_id AS "runId" FROM run WHERE ${isIn('run_id', 'runIds', 'bigint')} AND (${hasExecution})` as const
})
const INSTANT = select(event.pick('eventId', 'at'))
const FIRST_FROM = `
  SELECT ${INSTANT} FROM event WHERE owner_no = :ownerNo AND event_id >= :from ORDER BY event_id LIMIT 1` as const

const OWNERS = 'SELECT owner_no AS "ownerNo" FROM owner ORDER BY owner_no'
// The newest event is always kept, because ids continue from it.
const OLD = `
  WITH oldest AS (
    SELECT event_id, at FROM event WHERE owner_no = :ownerNo
      AND event_id < (SELECT max(event_id) FROM event WHERE owner_no = :ownerNo)
    ORDER BY event_id LIMIT :limit)
  SELECT count(*) AS count, max(event_id) AS "upTo" FROM oldest
  WHERE at < :olderThan AND event_id < coalesce(
    (SELECT min(event_id) FROM oldest WHERE at BETWEEN :olderThan AND :credible), ${Number.MAX_SAFE_INTEGER})` as const
const PURGE = 'DELETE FROM event WHERE owner_no = :ownerNo AND event_id <= :upTo'
const PURGED = inBoth(
  ({ greatest }) => `
  UPDATE owner SET purged_event_id = ${greatest}(purged_event_id, :upTo) WHERE owner_no = :ownerNo`,
)

/** Events that one call scans; most of them may not pass the filter. */
const readAtOnce = 2000
const purgedAtOnce = 1000

export const eventReads: ReadSteps<'getEventBounds' | 'getEvent'> = {
  getEventBounds,
  async getEvent(queries, { ownerNo, eventId }) {
    const row = await queries.get(EVENT, LIST, { ownerNo, after: eventId - 1, limit: 1 })
    return row?.eventId === eventId && !isPurged(row) ? toEvent(row) : undefined
  },
}

export const eventSnapshots: ReadSteps<'listEvents' | 'findEventBefore'> = {
  async listEvents(queries, { ownerNo, filter, slice: { after, limit } }) {
    // Without a filter, no more events than the slice are read.
    const atOnce = isEmpty(filter) ? Math.min(readAtOnce, limit + 1) : readAtOnce
    const [found, { purgedUpTo }] = await Promise.all([
      queries.all(EVENT, LIST, { ownerNo, after, limit: atOnce }),
      readPurged(queries, ownerNo),
    ])
    const concerns = await readConcerned(queries, ownerNo, filter, found)
    const events: StoredEvent[] = []
    let upTo = after
    for (const row of found) {
      if (events.length === limit) return { events, upTo, more: true, purgedUpTo }
      upTo = row.eventId
      if (isPurged(row)) continue
      const event = toEvent(row)
      if (passes(event, filter) && concerns(row)) events.push(event)
    }
    return { events, upTo, more: found.length === atOnce, purgedUpTo }
  },
  /** Times increase with ids, except by a few seconds, so a binary search finds the event. */
  async findEventBefore(queries, { ownerNo, at }) {
    let { purgedUpTo: low, newest: high } = await getEventBounds(queries, { ownerNo })
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const first = await queries.get(INSTANT, FIRST_FROM, { ownerNo, from: middle })
      if (first !== undefined && first.at < at) low = first.eventId
      else high = middle - 1
    }
    return low
  },
}

export const eventWrites: WriteSteps<'purgeEvents'> = {
  /** Purges a small batch, so that other steps do not wait long. */
  async purgeEvents(queries, { olderThan, now }) {
    const credible = latestCredible(now)
    let left = purgedAtOnce
    for (const { ownerNo } of await queries.all(rows(owner.pick('ownerNo')), OWNERS)) {
      const old = rows({ count: number(), upTo: orNull(number()) })
      const { count, upTo } = await queries.one(old, OLD, { ownerNo, olderThan, credible, limit: left })
      if (upTo === null) continue
      await Promise.all([queries.run(PURGED, { ownerNo, upTo }), queries.run(PURGE, { ownerNo, upTo })])
      left -= count
      if (left === 0) return true
    }
    return false
  },
}

async function readPurged(queries: Queries, ownerNo: number) {
  return (await queries.get(rows({ purgedUpTo: number() }), PURGED_UP_TO, { ownerNo })) ?? { purgedUpTo: 0 }
}

async function getEventBounds(queries: Queries, { ownerNo }: { ownerNo: number }) {
  return (await queries.get(BOUNDS_ROW, BOUNDS, { ownerNo })) ?? { newest: 0, purgedUpTo: 0 }
}

/** A run concerns a device if one of its executions does. */
async function readConcerned(
  queries: Queries,
  ownerNo: number,
  { deviceId }: EventFilter,
  found: EventRow[],
): Promise<(row: EventRow) => boolean> {
  if (deviceId === undefined) return () => true
  const runIds = found.filter((row) => row.deviceId === null).flatMap((row) => row.runId ?? [])
  const concerned = await queries.all(rows(event.pick('runId')), RUNS_OF_DEVICE, {
    ownerNo,
    deviceId,
    runIds,
  })
  const ids = new Set(concerned.map(({ runId }) => runId))
  return (row) => row.deviceId !== null || ids.has(row.runId)
}

function isEmpty({ types = [], jobName, deviceId, runId, jobs }: EventFilter): boolean {
  return types.length === 0 && [jobName, deviceId, runId, jobs].every((each) => each === undefined)
}

/** The newest event of an owner is always kept, so its run may be purged. */
function isPurged({ runId, jobName }: EventRow): boolean {
  return runId !== null && jobName === null
}

function toEvent(row: EventRow): StoredEvent {
  const { eventId, type, at } = row
  return { eventId, type, at, data: dataOf(row) }
}

function dataOf(row: EventRow): StoredEvent['data'] {
  const { type, runId, jobExecutionId, jobName, deviceId, from, attempt, versionNumber, cause, actor } = row
  if (jobExecutionId !== null) {
    const execState = stateOf(row)
    const what = { jobExecutionId, runId, jobName, deviceId, from, execState, attempt, versionNumber }
    return {
      ...what,
      cause,
      actor: actor && shownActor(actor),
      statusDetails: row.details ?? {},
    } as StoredEvent['data']
  }
  if (runId !== null) {
    const { total, retryOf } = row
    const counts = type === 'run.finished' ? { counts: pickCounts(row) } : {}
    return { runId, jobName, total, retryOf, ...counts, ...row.details } as StoredEvent['data']
  }
  return (deviceId === null ? row.details : { deviceId, ...row.details }) as StoredEvent['data']
}

/** The type determines the new state; progress does not change it. */
export function stateOf({ type, from }: { type: string; from: ExecState | null }): ExecState {
  return (type === 'execution.progress' ? from : type.slice('execution.'.length).toUpperCase()) as ExecState
}
