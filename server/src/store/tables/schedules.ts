// Schedules (see domain/schedule/fire-schedule.ts). A change applies only to the version that was read: the second of two
// concurrent writers, on this node or another, changes nothing.

import { isDeepStrictEqual } from 'node:util'
import { type ExecState, execStates } from '@jobcast/contract/words'
import { principalOf } from '../../domain/access/principal.ts'
import { isExpected } from '../../domain/common/entity-tag.ts'
import type { ScheduleChange, ScheduleKey, StoredSchedule } from '../../domain/schedule/ports/schedules.ts'
import { jobDeleted, pausedEvent } from '../../domain/schedule/schedule-events.ts'
import { newScheduleState } from '../../domain/schedule/schedule-state.ts'
import { isUnfinished, RUN_RANGE } from '../live-executions.ts'
import { inBatch } from '../moves.ts'
import { assignmentsOf, columnOf, inBoth, insertInto, type Queries, sliced, type Writes } from '../queries.ts'
import { computed, type Field, number, rows, select } from '../schema/column.ts'
import { execution, run, runRequest, schedule } from '../schema/tables.ts'
import { partOf, pickValues } from '../statement.ts'
import { replaceGiven } from './given-devices.ts'
import { isRevokedMaker } from './revoked-maker.ts'
import { countFields, unfinishedOn } from './run-fields.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { hasWindow } from './windows.ts'

const { isMatch: _, ...fields } = schedule.fields
const SCHEDULE = select(fields)
const SELECT = `SELECT ${SCHEDULE} FROM schedule` as const
const FIND = `${SELECT} WHERE owner_no = :ownerNo AND schedule_name = :scheduleName` as const
const LIST =
  `${SELECT} WHERE owner_no = :ownerNo AND schedule_name > :after ORDER BY schedule_name LIMIT :limit` as const
const LOCK_OWNER = inBoth(({ is, lock }) =>
  is === 'postgres' ? `SELECT 1 FROM owner WHERE owner_no = :ownerNo ${lock}` : '',
)
const COUNT = 'SELECT count(*) AS count FROM schedule WHERE owner_no = :ownerNo'
const COUNT_MATCHING = inBoth(({ is }) => `${COUNT} AND ${is === 'sqlite' ? 'is_match = 1' : 'is_match'}`)
const OF_JOB = `${SELECT} WHERE owner_no = :ownerNo AND job_name = :jobName AND paused_at IS NULL` as const
const OF_KEYS = inBoth(
  ({ isIn, lock }) => `
  ${SELECT} WHERE ${isIn('key_id', 'keyIds', 'text')} AND paused_at IS NULL ORDER BY owner_no, schedule_name ${lock}`,
)
const DELETED = select(schedule.pick('jobName', 'content'))
const DELETE = `
  DELETE FROM schedule WHERE owner_no = :ownerNo AND schedule_name = :scheduleName RETURNING ${DELETED}` as const
const DELETE_GIVEN = `
  DELETE FROM schedule_device WHERE schedule_no =
    (SELECT schedule_no FROM schedule WHERE owner_no = :ownerNo AND schedule_name = :scheduleName)`
const DUE = inBoth(
  ({ by }) => `
  ${SELECT} ${by('schedule_due')} WHERE due_at IS NOT NULL AND due_at <= :by ORDER BY due_at LIMIT :limit`,
)
const AHEAD = `${SELECT} WHERE handled_at > :of ORDER BY handled_at DESC LIMIT :limit` as const
const JUDGED = inBoth(
  ({ by, join }) => `
  ${SELECT} ${by('schedule_watched')} ${join} run ON run.run_id = schedule.watched_run_id
  WHERE watched_run_id IS NOT NULL AND run.ended_at IS NOT NULL LIMIT :limit`,
)
const MATCHING = inBoth(
  ({ is, by }) => `
  ${SELECT} ${by('schedule_matching')} WHERE ${is === 'sqlite' ? 'is_match = 1' : 'is_match'} AND paused_at IS NULL
  ORDER BY schedule_no`,
)
const INSERT = insertInto(schedule.fields)

const state = schedule.pick(
  ...(['nextFor', 'dueAt', 'handledAt', 'occurrence', 'lastFor', 'lastFiredAt', 'lastRunId'] as const),
  ...(['watchedRunId', 'failures', 'failuresAfter', 'pausedBecause', 'pausedBy', 'pausedAt'] as const),
  ...(['pausedCause', 'stopBaseline', 'cursor', 'matchedWhere'] as const),
)
const SET_STATE = assignmentsOf(state)
const changed = { ...state, ...schedule.pick('keyId') }
const CHANGED = select(schedule.pick('scheduleNo'))
// On PostgreSQL in the order of the list.
const CHANGE = inBoth(({ records }) => {
  const set = Object.entries(changed).map(([name, of]) => `${columnOf(of)} = record."${name}"`)
  return `
  UPDATE schedule SET ${set.join(', ')}, version = schedule.version + 1
  FROM ${records('changes', { ...changed, ...schedule.pick('scheduleNo', 'version') })}
  WHERE schedule.schedule_no = record."scheduleNo" AND schedule.version = record.version
  RETURNING ${CHANGED}`
})
const REPLACE = `
  UPDATE schedule SET ${SET_STATE}, job_name = :jobName, content = :content, key_id = :keyId,
    is_match = :isMatch, updated_at = :at, version = version + 1
  WHERE schedule_no = :scheduleNo` as const

const RUN_ID = select(run.pick('runId'))
const FIND_RUN = `
  SELECT ${select({ runId: runRequest.fields.runId })} FROM run_request
  WHERE schedule_no = :scheduleNo AND scheduled_for = :scheduledFor AND schedule_no IS NOT NULL LIMIT 1` as const
const COUNTS = select(countFields)
/** The number of newest runs that are checked. */
const newest = 200
const ENDS = `
  SELECT ${COUNTS} FROM (
    SELECT run_id, scheduled_for FROM run_request
    WHERE schedule_no = :scheduleNo AND schedule_no IS NOT NULL ORDER BY scheduled_for DESC LIMIT ${newest}) AS made
    JOIN run ON run.run_id = made.run_id
  WHERE run.run_id > :after AND run.ended_at IS NOT NULL ORDER BY made.scheduled_for DESC LIMIT :limit` as const
const BUSY = select(execution.pick('deviceNo', 'jobExecutionId', 'execState'))
// Starts from the owner's unfinished runs, which are few.
const BUSY_RUNS = inBoth(
  ({ is, by, join }) => `
  SELECT ${RUN_RANGE} FROM run ${by('run_unfinished')} ${join} run_request ON run_request.run_id = run.run_id
  WHERE run.owner_no = :ownerNo AND ${unfinishedOn[is]} AND run_request.schedule_no = :scheduleNo
  ORDER BY run.run_id`,
)
const RUN_COUNTS = select({ ...run.pick('runId'), ...countFields })
const UNFINISHED_COUNTS = inBoth(
  ({ is, by, join }) => `
  SELECT ${RUN_COUNTS} FROM run ${by('run_unfinished')} ${join} run_request ON run_request.run_id = run.run_id
  WHERE run.owner_no = :ownerNo AND ${unfinishedOn[is]} AND run_request.schedule_no = :scheduleNo
  ORDER BY run.run_id DESC LIMIT :limit`,
)
const LIST_COUNTS = inBoth(
  ({ isIn }) => `
  SELECT ${RUN_COUNTS} FROM run
  WHERE ${isIn('run.run_id', 'runIds', 'bigint')} AND run.owner_no = :ownerNo AND run.launched_at >= :since`,
)
const sum = (each: ExecState) => computed(`CAST(sum(${countFields[each].sql}) AS bigint)`, number())
const SUMS = select({
  ...schedule.pick('scheduleNo'),
  ...(Object.fromEntries(execStates.map((each) => [each, sum(each)])) as Record<ExecState, Field<number>>),
})
const COUNT_SCHEDULED = inBoth(
  ({ join, isIn }) => `
  SELECT ${SUMS} FROM schedule
    ${join} run_request ON run_request.schedule_no = schedule.schedule_no AND run_request.schedule_no IS NOT NULL
      AND run_request.scheduled_for >= :since AND run_request.run_id > schedule.failures_after
    ${join} run ON run.run_id = run_request.run_id
  WHERE ${isIn('schedule.schedule_no', 'scheduleNos', 'bigint')} GROUP BY schedule.schedule_no`,
)
const LIST_BUSY = inBoth(
  ({ is }) => `
  SELECT ${BUSY} FROM execution WHERE execution_id BETWEEN :first AND :last AND ${isUnfinished[is]}
  ORDER BY execution_id LIMIT :limit`,
)
const GET_RANGE = `SELECT ${RUN_RANGE} FROM run WHERE run_id = :runId` as const

type ScheduleReads = ReadSteps<
  | ('getSchedule' | 'listSchedules' | 'listDueSchedules' | 'listSchedulesAhead' | 'listJudgedSchedules')
  | ('listMatchSchedules' | 'findScheduledRun' | 'listScheduledEnds' | 'listBusyRuns' | 'listBusyDevices')
  | ('getRunRange' | 'countScheduled' | 'listUnfinishedCounts' | 'listRunCounts')
>

export const scheduleReads: ScheduleReads = {
  getSchedule: find,
  async listSchedules(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(SCHEDULE, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ scheduleName }) => scheduleName)
  },
  listDueSchedules: (queries, due) => queries.all(SCHEDULE, DUE, partOf(DUE, due)),
  listSchedulesAhead: (queries, ahead) => queries.all(SCHEDULE, AHEAD, partOf(AHEAD, ahead)),
  listJudgedSchedules: (queries, some) => queries.all(SCHEDULE, JUDGED, partOf(JUDGED, some)),
  listMatchSchedules: (queries) => queries.all(SCHEDULE, MATCHING),
  async findScheduledRun(queries, occurrence) {
    return (await queries.get(RUN_ID, FIND_RUN, partOf(FIND_RUN, occurrence)))?.runId
  },
  listScheduledEnds: (queries, ends) => queries.all(COUNTS, ENDS, partOf(ENDS, ends)),
  listBusyRuns: (queries, busy) => queries.all(RUN_RANGE, BUSY_RUNS, partOf(BUSY_RUNS, busy)),
  listBusyDevices: (queries, busy) => queries.all(BUSY, LIST_BUSY, partOf(LIST_BUSY, busy)),
  countScheduled: (queries, counted) => queries.all(SUMS, COUNT_SCHEDULED, partOf(COUNT_SCHEDULED, counted)),
  listUnfinishedCounts: (queries, runs) =>
    queries.all(RUN_COUNTS, UNFINISHED_COUNTS, partOf(UNFINISHED_COUNTS, runs)),
  listRunCounts: (queries, runs) => queries.all(RUN_COUNTS, LIST_COUNTS, partOf(LIST_COUNTS, runs)),
  getRunRange: (queries, { runId }) => queries.get(RUN_RANGE, GET_RANGE, { runId }),
}

export const scheduleWrites: WriteSteps<
  'putSchedule' | 'deleteSchedule' | 'changeSchedule' | 'changeSchedules' | 'supersede'
> = {
  async putSchedule(queries, put) {
    const { ownerNo, scheduleName, jobName, content, keyId, at, times, takesOver, most, mostMatching } = put
    // Locks the key first, like a revocation does: a concurrent revocation waits and finds this schedule.
    if (await isRevokedMaker(queries, keyId)) return { kind: 'key-revoked' }
    await queries.run(LOCK_OWNER, { ownerNo })
    const before = await queries.get(SCHEDULE, FIND, { ownerNo, scheduleName })
    if (!isExpected(put.expected, before?.scheduleName)) return { kind: 'not-expected' }
    const changed = { scheduleName, jobName, principal: principalOf({ keyId }) }
    const isMatch = content.when.kind === 'match'
    if (!(await hasWindow(queries, ownerNo, content.window))) return { kind: 'unknown-window' }
    if (isMatch && mostMatching > 0 && before?.content.when.kind !== 'match') {
      const { count } = await queries.one(rows({ count: number() }), COUNT_MATCHING, { ownerNo })
      if (count >= mostMatching) return { kind: 'too-many-matching' }
    }
    if (before === undefined) {
      const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
      if (count >= most) return { kind: 'too-many' }
      const { scheduleNo } = put
      const row = { scheduleNo, ownerNo, scheduleName, jobName, content, keyId, isMatch }
      const instants = { createdAt: at, updatedAt: at, version: 1 }
      queries.sendRows(INSERT, [{ ...row, ...instants, ...newScheduleState(times, at) }])
      const data = { ...changed, isNew: true }
      queries.resourceChanged('schedule.changed', { ownerNo, at, data, after: { jobName, ...content } })
      return { kind: 'put', created: true, value: await one(queries, put) }
    }
    const isSame =
      before.jobName === jobName && isDeepStrictEqual(withoutAuthor(before.content), withoutAuthor(content))
    if (isSame && !takesOver) {
      return { kind: 'put', created: false, value: before, isSame: true }
    }
    const after = replaceState(before, put)
    const values = { scheduleNo: before.scheduleNo, jobName, keyId, isMatch, at }
    await queries.run(REPLACE, { ...valuesOf(after), ...values, content: JSON.stringify(content) })
    await replaceGiven(queries, before, { jobName, content })
    queries.resourceChanged('schedule.changed', {
      ...{ ownerNo, at, data: { ...changed, isNew: false } },
      ...{ before: { jobName: before.jobName, ...before.content }, after: { jobName, ...content } },
    })
    return { kind: 'put', created: false, value: await one(queries, put) }
  },
  async deleteSchedule(queries, { principal, at, ...key }) {
    await queries.run(DELETE_GIVEN, key)
    const deleted = await queries.get(DELETED, DELETE, key)
    if (deleted === undefined) return false
    const { ownerNo, scheduleName } = key
    const { jobName, content } = deleted
    const data = { scheduleName, jobName, principal }
    queries.resourceChanged('schedule.deleted', { ownerNo, at, data, before: { jobName, ...content } })
    return true
  },
  async changeSchedule(queries, change) {
    const [isChanged] = await changeSchedules(queries, [change])
    return isChanged === true
  },
  changeSchedules,
  supersede: (queries, { jobExecutionIds, moment, actor }) =>
    inBatch(queries, async (moves) => {
      const found = await moves.loadById(jobExecutionIds)
      return moves.batch.moveAll(found, { event: 'superseded', moment, actor })
    }),
}

/** Of several changes of one schedule, only the first one applies: the others were read before it. */
async function changeSchedules(queries: Writes, changes: ScheduleChange[]): Promise<boolean[]> {
  const wanted = new Map<number, ScheduleChange>()
  // In the same order on every node, to prevent deadlocks.
  for (const change of changes.toSorted((one, other) => one.before.scheduleNo - other.before.scheduleNo)) {
    const { scheduleNo } = change.before
    const isRevoked = change.set.keyId !== undefined && (await isRevokedMaker(queries, change.set.keyId))
    if (!wanted.has(scheduleNo) && !isRevoked) wanted.set(scheduleNo, change)
  }
  const rows = [...wanted.values()].map(({ before, set }) => {
    const after = { ...before, ...set }
    const { scheduleNo, version } = before
    return { ...valuesOf(after), keyId: after.keyId, scheduleNo, version }
  })
  const found = rows.length === 0 ? [] : await queries.all(CHANGED, CHANGE, { changes: rows })
  const done = new Set(found.map(({ scheduleNo }) => wanted.get(scheduleNo)))
  for (const change of done) if (change) writeEvents(queries, change)
  return changes.map((change) => done.has(change))
}

function writeEvents(queries: Writes, { before, set, events = [], at }: ScheduleChange): void {
  const { ownerNo, scheduleName, pausedAt } = before
  const shown = { before: { pausedAt }, after: { pausedAt: { ...before, ...set }.pausedAt } }
  for (const { type, data } of events) queries.resourceChanged(type, { ownerNo, at, data, ...shown })
  // Fired manually; the run has its own audit entry.
  const isFired = set.occurrence?.principal != null
  if (isFired) queries.audited({ ownerNo, at, action: 'schedule.fired', subject: `schedule:${scheduleName}` })
}

/** A put of the same content by another principal changes nothing. */
function withoutAuthor({ putBy, ...content }: StoredSchedule['content']) {
  return content
}

/** Pauses schedules whose job was deleted. */
export async function pauseSchedulesOf(
  queries: Writes,
  { ownerNo, jobName, at }: { ownerNo: number; jobName: string; at: number },
): Promise<void> {
  for (const before of await queries.all(SCHEDULE, OF_JOB, { ownerNo, jobName })) {
    const { set, events } = pausedEvent(before, jobDeleted(jobName), 'service', at)
    await scheduleWrites.changeSchedule(queries, { before, set, events, at })
  }
}

/** Pauses schedules whose keys are revoked with descendants. */
export async function pauseSchedulesBy(
  queries: Writes,
  { keyIds, because, principal, at }: { keyIds: string[]; because: string; principal: string; at: number },
): Promise<ScheduleKey[]> {
  const found = await queries.all(SCHEDULE, OF_KEYS, { keyIds })
  for (const before of found) {
    const { set, events } = pausedEvent(before, { rule: 'KEY_REVOKED', because }, principal, at)
    await scheduleWrites.changeSchedule(queries, { before, set, events, at })
  }
  return found.map(({ ownerNo, scheduleName }) => ({ ownerNo, scheduleName }))
}

/** Keeps the next occurrence, unless its times have changed. */
function replaceState(before: StoredSchedule, put: Parameters<typeof scheduleWrites.putSchedule>[1]) {
  const { content, times, at } = put
  const timesOf = ({ when, except, until, jitterSeconds }: StoredSchedule['content']) => [
    ...[when, except, until, jitterSeconds],
  ]
  if (isDeepStrictEqual(timesOf(before.content), timesOf(content))) return before
  const isHeld = before.pausedAt !== null
  const dueAt = before.occurrence ? before.dueAt : isHeld ? null : times.dueAt
  return { ...before, nextFor: isHeld ? null : times.nextFor, dueAt, handledAt: at }
}

function valuesOf(schedule: StoredSchedule) {
  const { occurrence, pausedCause, stopBaseline } = schedule
  return {
    ...pickValues(state, schedule),
    occurrence: occurrence && JSON.stringify(occurrence),
    pausedCause: pausedCause && JSON.stringify(pausedCause),
    stopBaseline: stopBaseline && JSON.stringify(stopBaseline),
  }
}

function find(queries: Queries, { ownerNo, scheduleName }: ScheduleKey) {
  return queries.get(SCHEDULE, FIND, { ownerNo, scheduleName })
}

function one(queries: Queries, { ownerNo, scheduleName }: ScheduleKey) {
  return queries.one(SCHEDULE, FIND, { ownerNo, scheduleName })
}
