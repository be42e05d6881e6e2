// Fires schedules in three durable steps: record that the occurrence is being fired, create its run, record that it was
// fired. After a crash, any process that finds an occurrence being fired continues it. The run is created only once, because
// its idempotency key is that of the occurrence.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf, service } from '../access/principal.ts'
import { originOf } from '../audit/audit.ts'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import { notFound } from '../common/not-found.ts'
import type { StateCounts } from '../rollout/ports/rollouts.ts'
import { type Launched, type LaunchScheduleDeps, launchSchedule } from './launch-schedule.ts'
import { resumeMatch } from './match-schedule.ts'
import { endOf, type InFlightDeps, whileInFlight } from './occurrences-in-flight.ts'
import type {
  ScheduleChange,
  ScheduleEvent,
  ScheduleState,
  StartedOccurrence,
  StoredSchedule,
} from './ports/schedules.ts'
import { getSchedule } from './schedule.ts'
import { firedEvent, jobDeleted, missedEvent, type PausedFor, pausedEvent } from './schedule-events.ts'
import { judgeDue, timesAfter } from './schedule-times.ts'

export type FireDeps = LaunchScheduleDeps &
  InFlightDeps & {
    /** Identifies this process: others leave what it is firing alone for `abandonedMs`. */
    firedBy: string
    stopping: AbortSignal
    /** Batches writes of several schedules; by default each write is separate. */
    writeChange?: (change: ScheduleChange) => Promise<boolean>
  }

/** After this time another process continues the occurrence. */
const abandonedMs = 5000
const mostTries = 20
const downtime = 'they were due while the service was down or overloaded'

/** Fires a schedule that is due, or continues one that is being fired. */
export async function fireDue(deps: FireDeps, found: StoredSchedule): Promise<void> {
  if (found.occurrence !== null) {
    const { occurrence } = found
    if (isLeftTo(occurrence, deps) && endOf(deps, found, occurrence) === undefined)
      await whileInFlight(deps, found, occurrence, () => finishOccurrence(deps, found))
    return
  }
  if (found.nextFor === null || found.pausedAt !== null) return
  const { at, clock } = deps.moment()
  const { occurrence: dueFor, missed, times } = judgeDue(found.content, found.scheduleNo, found.nextFor, at)
  const events = missed ? [missedEvent(found, { ...missed, because: downtime })] : []
  // The clock was set back, and this occurrence has run already.
  const isMade = dueFor !== undefined && (await hasRun(deps, found, dueFor))
  if (dueFor === undefined || isMade) {
    await change(deps, { before: found, set: { ...times, handledAt: at }, events, at })
    return
  }
  const occurrence = { for: dueFor, principal: null, by: deps.firedBy, since: clock }
  const set = { nextFor: times.nextFor, dueAt: dueFor, handledAt: at, occurrence }
  await whileInFlight(deps, found, occurrence, async () => {
    if (!(await change(deps, { before: found, set, events, at }))) return
    // We have just checked that there is no run, and the claim keeps others from creating one.
    const launch: typeof launchFor = (_, before) => launchSchedule(deps, before, dueFor, { isNew: true })
    await finishOccurrence(deps, { ...found, ...set, version: found.version + 1 }, launch)
  })
}

function change({ store, writeChange }: FireDeps, changed: ScheduleChange): Promise<boolean> {
  return writeChange ? writeChange(changed) : store.changeSchedule(changed)
}

async function hasRun(
  { store }: FireDeps,
  { scheduleNo }: StoredSchedule,
  scheduledFor: number,
): Promise<boolean> {
  return (await store.findScheduledRun({ scheduleNo, scheduledFor })) !== undefined
}

function isLeftTo({ by, since }: StartedOccurrence, { firedBy, moment }: FireDeps): boolean {
  return by === firedBy || isAbandoned(since, moment().clock)
}

function isAbandoned(since: SteadyInstant, now: SteadyInstant): boolean {
  return now - since >= abandonedMs
}

/** Fires it now at a caller's request. Returns the id of the run. */
export async function fireNow(deps: FireDeps, caller: Caller, scheduleName: string): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = await getSchedule(deps, caller, scheduleName)
    if (before.occurrence !== null) {
      const { occurrence } = before
      await (endOf(deps, before, occurrence) ??
        whileInFlight(deps, before, occurrence, () => finishOccurrence(deps, before)))
      continue
    }
    // With `match`, a missing job would look as if no device matched.
    if (before.content.when.kind === 'match') await requireJob(deps, before)
    const { at, clock } = deps.moment()
    const own = Math.max(at, (before.lastFor ?? 0) + 1)
    const { content, cursor: upTo, matchedWhere: where } = before
    const occurrence = {
      ...{ for: own, principal: principalOf(caller), by: deps.firedBy, since: clock },
      ...(content.when.kind === 'match' && { match: { upTo, where } }),
    }
    const set = { occurrence, dueAt: at }
    const finished = await whileInFlight(deps, before, occurrence, async () => {
      if (!(await deps.store.changeSchedule({ before, set, at, ...originOf(caller) }))) return undefined
      return finishOccurrence(deps, { ...before, ...set, version: before.version + 1 })
    })
    if (finished === undefined) continue
    const { launched, refusal } = finished
    if (refusal) throw refusal
    if (launched?.runId) return launched.runId
    throw noDevice(launched)
  }
  throw new ApiError('J-908', { retryAfterSeconds: 1 })
}

async function requireJob({ store }: FireDeps, { ownerNo, jobName }: StoredSchedule): Promise<void> {
  if ((await store.getJob({ ownerNo, jobName })) === undefined) throw notFound('J-301', jobName)
}

function noDevice({ matched = 0 }: Partial<Launched> = {}): ApiError {
  if (matched === 0) return new ApiError('J-504')
  const detail = `All ${matched} devices still have an unfinished execution of this schedule.`
  return new ApiError('J-504', { detail })
}

type Finished = { launched?: Launched; refusal?: ApiError }

/** Rejects if it has to be retried. */
export async function finishOccurrence(
  deps: FireDeps,
  before: StoredSchedule,
  launch: (
    deps: FireDeps,
    before: StoredSchedule,
    occurrence: StartedOccurrence,
  ) => Promise<Launched> = launchFor,
): Promise<Finished> {
  const { occurrence } = before
  if (occurrence === null) return {}
  try {
    const launched = await launch(deps, before, occurrence)
    await noteFired(deps, before, occurrence, launched)
    return { launched }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || isTriedAgain(error)) throw error
    await noteRefused(deps, before, occurrence, error)
    return { refusal: error }
  }
}

function launchFor(deps: FireDeps, before: StoredSchedule, occurrence: StartedOccurrence): Promise<Launched> {
  return occurrence.match
    ? resumeMatch(deps, before, occurrence)
    : launchSchedule(deps, before, occurrence.for)
}

/** Not failures: another call is creating the run (J-502), or a device was deleted meanwhile (J-001). */
export function isTriedAgain(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'J-502' || error.code === 'J-001')
}

/** When it is due next, once it has fired. */
function timesNow({ content, scheduleNo, nextFor, pausedAt }: StoredSchedule): Pick<ScheduleState, 'dueAt'> {
  if (pausedAt !== null || nextFor === null) return { dueAt: null }
  return { dueAt: timesAfter(content, scheduleNo, nextFor - 1).dueAt }
}

async function noteFired(
  deps: FireDeps,
  before: StoredSchedule,
  occurrence: StartedOccurrence,
  launched: Launched,
): Promise<void> {
  const { at } = deps.moment()
  const { runId } = launched
  const { content, lastRunId, watchedRunId } = before
  const isWatched = content.pauseAfterFailures !== null
  const event = firedEvent(
    before,
    { scheduledFor: occurrence.for, ...launched },
    occurrence.principal ?? service,
  )
  const matched = occurrence.match && { cursor: occurrence.match.upTo, matchedWhere: occurrence.match.where }
  await change(deps, {
    before,
    set: {
      ...{ ...timesNow(before), occurrence: null, lastFor: occurrence.for, lastFiredAt: at },
      lastRunId: runId ?? lastRunId,
      watchedRunId: isWatched ? (runId ?? watchedRunId) : null,
      ...matched,
    },
    // With `match`, no event if it found no devices: it checks all the time.
    events: occurrence.match && runId === null ? [] : [event],
    at,
  })
}

/** Pauses the schedule if its job or its targets are gone; other errors may not occur the next time. */
async function noteRefused(
  deps: FireDeps,
  before: StoredSchedule,
  occurrence: StartedOccurrence,
  refusal: ApiError,
): Promise<void> {
  const { at } = deps.moment()
  const { because } = causeOf(before, refusal)
  const idle = { ...before, ...timesNow(before), occurrence: null }
  if (givesUp.includes(refusal.code) && before.pausedAt === null) {
    const { set, events } = pausedEvent(idle, causeOf(before, refusal), service, at)
    await change(deps, { before, set: { ...set, occurrence: null }, events, at })
    return
  }
  const one = { count: 1, isMore: false, from: occurrence.for, to: occurrence.for }
  const events = occurrence.principal === null ? [missedEvent(before, { ...one, because })] : []
  const failures = before.failures + (occurrence.principal === null ? 1 : 0)
  const { set, events: more } = afterFailures(idle, failures, at, because)
  await change(deps, {
    before,
    set: { ...timesNow(before), occurrence: null, ...set },
    events: [...events, ...more],
    at,
  })
}

/** Pauses a schedule whose targets can no longer be read. Rejects with any other error. */
export async function pauseUnreadable(deps: FireDeps, before: StoredSchedule, error: unknown): Promise<void> {
  if (!(error instanceof ApiError) || !givesUp.includes(error.code)) throw error
  const { at } = deps.moment()
  const { set, events } = pausedEvent(before, causeOf(before, error), service, at)
  await change(deps, { before, set, events, at })
}

const givesUp: readonly string[] = ['J-301', 'J-309', 'J-313', 'J-503']

function causeOf({ jobName }: StoredSchedule, { code, message, details }: ApiError): PausedFor {
  if (code === 'J-301') return jobDeleted(jobName)
  return { rule: 'REFUSED', because: `${code}: ${details.detail ?? message}` }
}

/** Counts failures once the watched run has ended. */
export async function judgeFailures(deps: FireDeps, before: StoredSchedule): Promise<void> {
  const { at } = deps.moment()
  const { scheduleNo, failuresAfter, content } = before
  const limit = content.pauseAfterFailures
  if (limit === null || before.occurrence !== null) return
  const ends = await deps.store.listScheduledEnds({ scheduleNo, after: failuresAfter, limit })
  const good = ends.findIndex((counts) => !hasFailed(counts))
  const { set, events } = afterFailures(before, good === -1 ? ends.length : good, at)
  await change(deps, { before, set: { watchedRunId: null, ...set }, events, at })
}

/** No device has succeeded, and at least one has tried. */
function hasFailed({ SUCCEEDED, FAILED, TIMED_OUT, REJECTED }: StateCounts): boolean {
  return SUCCEEDED === 0 && FAILED + TIMED_OUT + REJECTED > 0
}

function afterFailures(
  schedule: StoredSchedule,
  failures: number,
  at: number,
  refusedBecause?: string,
): { set: Partial<ScheduleState>; events: ScheduleEvent[] } {
  const limit = schedule.content.pauseAfterFailures
  if (limit === null || failures < limit || schedule.pausedAt !== null) {
    return { set: { failures }, events: [] }
  }
  const last = refusedBecause === undefined ? '' : `, the last one: ${refusedBecause}`
  const failed = failures === 1 ? 'a run has failed' : `${failures} runs in a row have failed`
  const cause = { rule: 'FAILURES', because: failed + last, count: failures } as const
  const { set, events } = pausedEvent(schedule, cause, service, at)
  return { set: { ...set, failures }, events }
}

/**
 * Computes the next occurrence again after the wall clock was set back. Occurrences that have run are not repeated. False:
 * the schedule has changed meanwhile.
 */
export function replan(
  { store }: Pick<FireDeps, 'store'>,
  before: StoredSchedule,
  at: WallInstant,
): Promise<boolean> {
  const { content, scheduleNo, occurrence, dueAt, pausedAt } = before
  const times = pausedAt === null ? timesAfter(content, scheduleNo, at) : { nextFor: null, dueAt: null }
  const set = { ...times, dueAt: occurrence ? dueAt : times.dueAt, handledAt: at }
  return store.changeSchedule({ before, set, at })
}
