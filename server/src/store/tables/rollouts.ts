// Rollouts of runs (see domain/rollout/judge-rollout.ts). A change applies only to the version that was read: the second of two
// concurrent writers, on this node or another, changes nothing.

import type { ExecState } from '@jobcast/contract/words'
import { execStates } from '@jobcast/contract/words'
import { laterBy } from '../../domain/common/instants.ts'
import { pauseRollout, type RolloutStatus } from '../../domain/rollout/judge-rollout.ts'
import type { PauseCause } from '../../domain/rollout/pause-cause.ts'
import type { RolloutChange, StateCounts } from '../../domain/rollout/ports/rollouts.ts'
import type { StoredRollout } from '../../domain/rollout/rollout.ts'
import { heldFrom, isOpenRollout } from '../../domain/rollout/rollout.ts'
import type { RunKey } from '../../domain/trigger/ports/runs.ts'
import { inBatch } from '../moves.ts'
import { inBoth, insertInto, type Writes } from '../queries.ts'
import { computed, type Field, number, rows, select } from '../schema/column.ts'
import { device, execution, release, rollout, run } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { countFields, pickCounts, WINDOW_OF_RUN } from './run-fields.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const ended = ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED'] as const
const unfinished = ['PENDING', 'IN_PROGRESS', 'CANCELING'] as const
const sumOf = (states: readonly ExecState[]) =>
  computed(states.map((each) => countFields[each].sql).join(' + '), number())

const OPEN = select({
  ...rollout.pick('runId', 'ownerNo', 'state', 'version', 'nextAt', 'startAt'),
  ended: sumOf(ended),
  succeeded: run.fields.SUCCEEDED,
  unfinished: sumOf(unfinished),
})
const LIST_OPEN = inBoth(
  ({ is, join, by }) => `
  SELECT ${OPEN} FROM rollout ${by('rollout_open')} ${join} run ON run.run_id = rollout.run_id
  WHERE ${is === 'sqlite' ? 'is_open = 1' : 'is_open'}`,
)
const ROLLOUT = select(
  rollout.pick(
    ...(['runId', 'ownerNo', 'firstExecutionId', 'total', 'state'] as const),
    ...(['released', 'nextAt', 'version', 'plan', 'status', 'startAt'] as const),
  ),
)
const FACTS = select({
  ...rollout.pick('runId', 'ownerNo', 'firstExecutionId', 'total', 'state', 'released', 'nextAt'),
  ...{ ...rollout.pick('version', 'plan', 'status', 'startAt'), ...run.pick('keyId'), ...countFields },
})
const GET = `
  SELECT ${FACTS} FROM rollout JOIN run ON run.run_id = rollout.run_id
  WHERE rollout.run_id = :runId AND rollout.owner_no = :ownerNo` as const
const LIST = inBoth(
  ({ isIn }) =>
    `SELECT ${ROLLOUT} FROM rollout WHERE ${isIn('run_id', 'runIds', 'bigint')} AND owner_no = :ownerNo`,
)
// The position of a part is read from the run, so that its ids are found by range.
const IN_PART = `execution_id >= first_execution_id + :from AND execution_id < first_execution_id + :to`
const inState = (each: ExecState) => computed(`count(*) FILTER (WHERE execution.state = '${each}')`, number())
const COUNTS = select(
  Object.fromEntries(execStates.map((each) => [each, inState(each)])) as Record<ExecState, Field<number>>,
)
const COUNT_PART = inBoth(
  ({ join }) => `
  SELECT ${COUNTS} FROM run ${join} execution ON ${IN_PART}
  WHERE run.run_id = :runId AND run.owner_no = :ownerNo`,
)
const RUN_COUNTS = select(countFields)
const COUNT_RUN =
  `SELECT ${RUN_COUNTS} FROM run WHERE run.run_id = :runId AND run.owner_no = :ownerNo` as const
const ENDED = select({ ...execution.pick('jobExecutionId', 'execState'), ...device.pick('deviceId') })
const LIST_ENDED = inBoth(
  ({ join, isIn }) => `
  SELECT ${ENDED} FROM execution ${join} device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN :first AND :last AND execution.owner_no = :ownerNo
    AND ${isIn('CAST(execution.state AS text)', 'execStates', 'text')}
  ORDER BY execution.finished_at DESC, execution_id DESC LIMIT :limit`,
)
const COUNT_OFFLINE = inBoth(
  ({ is, join }) => `
  SELECT count(*) AS count FROM run ${join} execution ON ${IN_PART}
    ${join} device ON device.device_no = execution.device_no
  WHERE run.run_id = :runId AND run.owner_no = :ownerNo AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')
    AND ${is === 'sqlite' ? 'online = 0' : 'NOT online'}`,
)
const RELEASED = select({
  ...run.pick('jobVersion', 'launchedAt'),
  ...execution.pick('jobExecutionId'),
  ...device.pick('deviceId'),
  ...{ window: WINDOW_OF_RUN, priority: execution.fields.priority },
})
const LIST_RELEASED = inBoth(
  ({ join }) => `
  SELECT ${RELEASED} FROM run ${join} execution ON ${IN_PART} AND state = 'PENDING' AND attempt = 1
    ${join} device ON device.device_no = execution.device_no
  WHERE run.run_id = :runId AND run.owner_no = :ownerNo ORDER BY execution_id`,
)
const CHANGE = `
  UPDATE rollout SET state = :state, released = :released, held_from = :heldFrom, is_open = :isOpen,
    next_at = :nextAt, version = version + 1, plan = :plan, status = :status
  WHERE run_id = :runId AND owner_no = :ownerNo AND version = :version`

/** For a new run. */
export const INSERT_ROLLOUT = insertInto(rollout.fields)
const OF_KEYS = inBoth(
  ({ is, by, join, isIn }) => `
  SELECT ${ROLLOUT} FROM rollout ${by('rollout_open')} ${join} run ON run.run_id = rollout.run_id
  WHERE ${is === 'sqlite' ? 'is_open = 1' : 'is_open'} AND rollout.state = 'SCHEDULED' AND ${isIn('run.key_id', 'keyIds', 'text')}
  ORDER BY rollout.run_id ${is === 'postgres' ? 'FOR UPDATE OF rollout' : ''}`,
)
const INSERT_RELEASE = insertInto(release.fields)

/** Converts a rollout to a row. */
export function toRolloutRow({ status, ...stored }: StoredRollout) {
  const { state, released, ...details } = status
  const row = { ...stored, state, released, heldFrom: heldFrom({ ...stored, status }) }
  return { ...row, isOpen: isOpenRollout(status), status: details }
}

export const rolloutReads: ReadSteps<
  'listOpenRollouts' | 'getRollout' | 'listRollouts' | 'countOffline' | 'listReleased' | 'listEndedPart'
> = {
  listOpenRollouts: (queries) => queries.all(OPEN, LIST_OPEN),
  async getRollout(queries, { ownerNo, runId }) {
    const row = await queries.get(FACTS, GET, { ownerNo, runId })
    return row && { rollout: toRollout(row), keyId: row.keyId, run: pickCounts(row) }
  },
  async listRollouts(queries, { ownerNo, runIds }) {
    return runIds.length === 0 ? [] : (await queries.all(ROLLOUT, LIST, { ownerNo, runIds })).map(toRollout)
  },
  listEndedPart: (queries, part) => queries.all(ENDED, LIST_ENDED, partOf(LIST_ENDED, part)),
  async countOffline(queries, part) {
    return (await queries.one(rows({ count: number() }), COUNT_OFFLINE, part)).count
  },
  async listReleased(queries, part) {
    const found = await queries.all(RELEASED, LIST_RELEASED, partOf(LIST_RELEASED, part))
    const [first] = found
    if (first === undefined) return undefined
    const executions = found.map(({ jobExecutionId, deviceId }) => ({ jobExecutionId, deviceId }))
    const { jobVersion, launchedAt, window, priority } = first
    const windowed = window === null ? {} : { isWindowed: true as const }
    const urgent = priority === null ? {} : { priority }
    return { runId: part.runId, jobVersion, launchedAt, executions, ...windowed, ...urgent }
  },
}

export const rolloutSnapshots: ReadSteps<'countRunParts'> = {
  async countRunParts(queries, { ownerNo, runId, parts }) {
    const run = await queries.get(RUN_COUNTS, COUNT_RUN, { ownerNo, runId })
    const counted: StateCounts[] = []
    for (const { from, to } of parts) {
      counted.push(await queries.one(COUNTS, COUNT_PART, { ownerNo, runId, from, to }))
    }
    return {
      run: run ?? (await queries.one(COUNTS, COUNT_PART, { ownerNo, runId, from: 0, to: 0 })),
      parts: counted,
    }
  },
}

export const rolloutWrites: WriteSteps<'changeRollout'> = {
  async changeRollout(queries, change) {
    const { cancels, moment } = change
    const isChanged = cancels
      ? await changeWithCancels(queries, { ...change, cancels })
      : await writeStatus(queries, { ...change, at: moment.at })
    if (isChanged) writeRelease(queries, change)
    return isChanged
  },
}

function changeWithCancels(
  queries: Writes,
  change: RolloutChange & Required<Pick<RolloutChange, 'cancels'>>,
): Promise<boolean> {
  const { cancels, moment, before } = change
  const { at } = moment
  return inBatch(queries, async (moves) => {
    const found = await moves.loadById(cancels.jobExecutionIds)
    const isPending = found.every(({ life }) => life.execState === 'PENDING')
    if (!isPending || found.length < cancels.jobExecutionIds.length) return false
    if (!(await writeStatus(queries, { ...change, at }))) return false
    const moved = moves.batch.moveAll(found, { event: 'cancel', moment, actor: cancels.actor })
    for (const { jobExecutionId, from, execState } of moved)
      queries.audited({
        ...{ ownerNo: before.ownerNo, at, action: 'execution.canceled' },
        subject: `execution:${jobExecutionId}`,
        ...{ before: { execState: from }, after: { execState } },
      })
    return true
  })
}

async function writeStatus(
  queries: Writes,
  change: Omit<RolloutChange, 'moment'> & { at: number },
): Promise<boolean> {
  const { before, status, nextAt, plan = before.plan, isOver = false, events, at } = change
  const { runId, ownerNo, version } = before
  const { state, released, ...details } = status
  const held = isOver ? null : heldFrom({ ...before, status })
  const changed = await queries.run(CHANGE, {
    ...{ runId, ownerNo, version, state, released, nextAt, heldFrom: held },
    isOpen: !isOver && isOpenRollout(status),
    plan: JSON.stringify(plan),
    status: JSON.stringify(details),
  })
  if (changed === 0) return false
  const audited = { before: auditedState(before.status, before.plan), after: auditedState(status, plan) }
  for (const { type, details } of events)
    queries.runChanged(type, { ownerNo, runId, at, details, ...audited })
  return true
}

function auditedState({ state, wave, released }: RolloutStatus, { rollout }: StoredRollout['plan']): object {
  return { state, wave: wave + 1, released, rollout }
}

/** Pauses runs that have not started, because their keys are revoked with descendants. */
export async function pauseRunsBy(
  queries: Writes,
  { keyIds, because, principal, at }: { keyIds: string[]; because: string; principal: string; at: number },
): Promise<RunKey[]> {
  const found = (await queries.all(ROLLOUT, OF_KEYS, { keyIds })).map(toRollout)
  for (const before of found) {
    const status = pauseRollout(before.status, { rule: 'PRINCIPAL', because, by: principal })
    const details = { wave: 1, released: 0, because, principal }
    const events = [{ type: 'run.paused', details } as const]
    await writeStatus(queries, { before, status, nextAt: null, events, at })
  }
  return found.map(({ ownerNo, runId }) => ({ ownerNo, runId }))
}

/** Writes the timers that start with the release. */
function writeRelease(queries: Writes, { before, status, moment }: RolloutChange): void {
  const { runId, firstExecutionId, plan } = before
  const { expireAfterSeconds, deadlineSeconds } = plan
  if (status.released === before.status.released) return
  if (expireAfterSeconds === null && deadlineSeconds === null) return
  const after = (seconds: number | null) => (seconds === null ? null : laterBy(seconds * 1000, moment.clock))
  const deadlineAt = after(deadlineSeconds)
  const first = firstExecutionId + before.status.released
  const last = firstExecutionId + status.released - 1
  const expireAt = after(expireAfterSeconds)
  const times = { expireAt, deadlineAt, deadlineDueAt: deadlineAt, countsFrom: moment.clock }
  queries.sendRows(INSERT_RELEASE, [{ runId, first, last, ...times }])
}

function toRollout(row: ReturnType<typeof ROLLOUT.read>): StoredRollout {
  const { runId, ownerNo, firstExecutionId, total, version, nextAt, plan, state, released, startAt } = row
  const { allowance = 0, accepted = 0 } = row.status
  const pausedCause = row.status.pausedCause ? withGate(row.status.pausedCause) : null
  const status = { ...row.status, pausedCause, allowance, accepted, state, released }
  return { runId, ownerNo, firstExecutionId, total, version, nextAt, plan, status, startAt }
}

/** Causes that were stored before gates could close do not have these fields. */
function withGate({ needed = null, possible = null, ...cause }: PauseCause): PauseCause {
  return { ...cause, needed, possible }
}
