// What schedules do by themselves. Three steps, each of them durable: the occurrence is noted as being fired, its run is
// made, and that is noted. Whoever finds an occurrence that is being fired, after a crash or on another node, goes on with
// it: the run is made once, since its key is that of the occurrence.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { principalOf, service } from '../access/principal.ts'
import { originOf } from '../audit/audit.ts'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import { notFound } from '../common/not-found.ts'
import type { StateCounts } from '../rollout/ports/rollouts.ts'
import { endOf, type UnderWayDeps, whileUnderWay } from './firings-under-way.ts'
import { type Launched, type LaunchScheduleDeps, launchSchedule } from './launch-schedule.ts'
import { resumeMatch } from './match-schedule.ts'
import type {
  Firing,
  ScheduleChange,
  ScheduleEvent,
  ScheduleState,
  StoredSchedule,
} from './ports/schedules.ts'
import { getSchedule } from './schedule.ts'
import { firedEvent, jobDeleted, missedEvent, type PausedFor, pausedEvent } from './schedule-events.ts'
import { judgeDue, timesAfter } from './schedule-times.ts'

export type FireDeps = LaunchScheduleDeps &
  UnderWayDeps & {
    /** Of this process: whoever else finds what it is firing leaves it to it for a while. */
    firedBy: string
    stopping: AbortSignal
    /** Shares a write with others; left out: each has one of its own. */
    writeChange?: (change: ScheduleChange) => Promise<boolean>
  }

/** After so long another process goes on with it. */
const abandonedMs = 5000
const mostTries = 20
const downtime = 'they were due while the service was down or overloaded'

/** One that is due, or being fired. */
export async function fireDue(deps: FireDeps, found: StoredSchedule): Promise<void> {
  if (found.firing !== null) {
    const { firing } = found
    if (isLeftTo(firing, deps) && endOf(deps, found, firing) === undefined)
      await whileUnderWay(deps, found, firing, () => finishFiring(deps, found))
    return
  }
  if (found.nextFor === null || found.pausedAt !== null) return
  const { at, clock } = deps.moment()
  const { occurrence, missed, times } = judgeDue(found.content, found.scheduleNo, found.nextFor, at)
  const events = missed ? [missedEvent(found, { ...missed, because: downtime })] : []
  // The clock was set back, and it has run before.
  const isMade = occurrence !== undefined && (await hasRun(deps, found, occurrence))
  if (occurrence === undefined || isMade) {
    await change(deps, { before: found, set: { ...times, handledAt: at }, events, at })
    return
  }
  const firing = { for: occurrence, principal: null, by: deps.firedBy, since: clock }
  const set = { nextFor: times.nextFor, dueAt: occurrence, handledAt: at, firing }
  await whileUnderWay(deps, found, firing, async () => {
    if (!(await change(deps, { before: found, set, events, at }))) return
    // Nobody else can have made its run since we have looked.
    const launch: typeof launchFor = (_, before) => launchSchedule(deps, before, occurrence, { isNew: true })
    await finishFiring(deps, { ...found, ...set, version: found.version + 1 }, launch)
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

function isLeftTo({ by, since }: Firing, { firedBy, moment }: FireDeps): boolean {
  return by === firedBy || isAbandoned(since, moment().clock)
}

function isAbandoned(since: SteadyInstant, now: SteadyInstant): boolean {
  return now - since >= abandonedMs
}

/** Somebody does not wait for the next occurrence. Gives the run. */
export async function fireNow(deps: FireDeps, caller: Caller, scheduleName: string): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = await getSchedule(deps, caller, scheduleName)
    if (before.firing !== null) {
      const { firing } = before
      await (endOf(deps, before, firing) ??
        whileUnderWay(deps, before, firing, () => finishFiring(deps, before)))
      continue
    }
    // Of one that looks for devices, a missing job would look as if there were none.
    if (before.content.when.kind === 'match') await requireJob(deps, before)
    const { at, clock } = deps.moment()
    const own = Math.max(at, (before.lastFor ?? 0) + 1)
    const { content, cursor: upTo, matchedWhere: where } = before
    const firing = {
      ...{ for: own, principal: principalOf(caller), by: deps.firedBy, since: clock },
      ...(content.when.kind === 'match' && { match: { upTo, where } }),
    }
    const set = { firing, dueAt: at }
    const finished = await whileUnderWay(deps, before, firing, async () => {
      if (!(await deps.store.changeSchedule({ before, set, at, ...originOf(caller) }))) return undefined
      return finishFiring(deps, { ...before, ...set, version: before.version + 1 })
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

/** Rejects if it has to be tried again. */
export async function finishFiring(
  deps: FireDeps,
  before: StoredSchedule,
  launch: (deps: FireDeps, before: StoredSchedule, firing: Firing) => Promise<Launched> = launchFor,
): Promise<Finished> {
  const { firing } = before
  if (firing === null) return {}
  try {
    const launched = await launch(deps, before, firing)
    await noteFired(deps, before, firing, launched)
    return { launched }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || isTriedAgain(error)) throw error
    await noteRefused(deps, before, firing, error)
    return { refusal: error }
  }
}

function launchFor(deps: FireDeps, before: StoredSchedule, firing: Firing): Promise<Launched> {
  return firing.match ? resumeMatch(deps, before, firing) : launchSchedule(deps, before, firing.for)
}

/** Somebody else is at it, or (J-001) a device was deleted meanwhile and the others are left: nothing is wrong. */
export function isTriedAgain(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'J-502' || error.code === 'J-001')
}

/** When it is looked at next, once it is fired. */
function timesNow({ content, scheduleNo, nextFor, pausedAt }: StoredSchedule): Pick<ScheduleState, 'dueAt'> {
  if (pausedAt !== null || nextFor === null) return { dueAt: null }
  return { dueAt: timesAfter(content, scheduleNo, nextFor - 1).dueAt }
}

async function noteFired(
  deps: FireDeps,
  before: StoredSchedule,
  firing: Firing,
  launched: Launched,
): Promise<void> {
  const { at } = deps.moment()
  const { runId } = launched
  const { content, lastRunId, watchedRunId } = before
  const isWatched = content.pauseAfterFailures !== null
  const event = firedEvent(before, { scheduledFor: firing.for, ...launched }, firing.principal ?? service)
  const matched = firing.match && { cursor: firing.match.upTo, matchedWhere: firing.match.where }
  await change(deps, {
    before,
    set: {
      ...{ ...timesNow(before), firing: null, lastFor: firing.for, lastFiredAt: at },
      lastRunId: runId ?? lastRunId,
      watchedRunId: isWatched ? (runId ?? watchedRunId) : null,
      ...matched,
    },
    // Of one that looks for devices all the time, only what it found.
    events: firing.match && runId === null ? [] : [event],
    at,
  })
}

/** Without its job or its devices nothing can run; anything else may be otherwise next time. */
async function noteRefused(
  deps: FireDeps,
  before: StoredSchedule,
  firing: Firing,
  refusal: ApiError,
): Promise<void> {
  const { at } = deps.moment()
  const { because } = causeOf(before, refusal)
  const idle = { ...before, ...timesNow(before), firing: null }
  if (givesUp.includes(refusal.code) && before.pausedAt === null) {
    const { set, events } = pausedEvent(idle, causeOf(before, refusal), service, at)
    await change(deps, { before, set: { ...set, firing: null }, events, at })
    return
  }
  const one = { count: 1, isMore: false, from: firing.for, to: firing.for }
  const events = firing.principal === null ? [missedEvent(before, { ...one, because })] : []
  const failures = before.failures + (firing.principal === null ? 1 : 0)
  const { set, events: more } = afterFailures(idle, failures, at, because)
  await change(deps, {
    before,
    set: { ...timesNow(before), firing: null, ...set },
    events: [...events, ...more],
    at,
  })
}

/** Its devices cannot be told any more. Rejects with anything else. */
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

/** The run that was watched has ended. */
export async function judgeFailures(deps: FireDeps, before: StoredSchedule): Promise<void> {
  const { at } = deps.moment()
  const { scheduleNo, failuresAfter, content } = before
  const limit = content.pauseAfterFailures
  if (limit === null || before.firing !== null) return
  const ends = await deps.store.listScheduledEnds({ scheduleNo, after: failuresAfter, limit })
  const good = ends.findIndex((counts) => !hasFailed(counts))
  const { set, events } = afterFailures(before, good === -1 ? ends.length : good, at)
  await change(deps, { before, set: { watchedRunId: null, ...set }, events, at })
}

/** Not one device has succeeded, and at least one has tried. */
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
 * The wall clock was set back: what comes next is decided anew. What has run is not run again. False: somebody else has
 * changed it meanwhile.
 */
export function replan(
  { store }: Pick<FireDeps, 'store'>,
  before: StoredSchedule,
  at: WallInstant,
): Promise<boolean> {
  const { content, scheduleNo, firing, dueAt, pausedAt } = before
  const times = pausedAt === null ? timesAfter(content, scheduleNo, at) : { nextFor: null, dueAt: null }
  const set = { ...times, dueAt: firing ? dueAt : times.dueAt, handledAt: at }
  return store.changeSchedule({ before, set, at })
}
