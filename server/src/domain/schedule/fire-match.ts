// Fires a schedule with `match`: creates the run for devices that have started to match.

import { service } from '../access/principal.ts'
import { laterBy } from '../common/instants.ts'
import { type FireDeps, finishOccurrence } from './fire-schedule.ts'
import type { ChosenDevices } from './launch-schedule.ts'
import { chooseFrom, launchMatch, type Match, withoutGiven } from './match-schedule.ts'
import { whileInFlight } from './occurrences-in-flight.ts'
import type { StoredSchedule } from './ports/schedules.ts'
import { pausedEvent } from './schedule-events.ts'

/** Undefined: it may fire. Otherwise the rollout of its last run has to finish releasing first, or has been stopped. */
export async function waitsFor(
  deps: FireDeps,
  schedule: StoredSchedule,
): Promise<'rollout' | 'paused' | undefined> {
  const { ownerNo, lastRunId } = schedule
  const found = lastRunId === null ? undefined : await deps.store.getRollout({ ownerNo, runId: lastRunId })
  if (found === undefined) return undefined
  const { at, clock } = deps.moment()
  const { status, plan } = found.rollout
  if (status.state === 'ABORTED' || status.state === 'DENIED') {
    const { set, events } = pausedEvent(
      schedule,
      { rule: 'RUN_STOPPED', because: `its run ${lastRunId} was stopped` },
      service,
      at,
    )
    await deps.store.changeSchedule({ before: schedule, set, events, at })
    return 'paused'
  }
  if (status.state !== 'RELEASED') return 'rollout'
  const { ratePerMinute } = plan.rollout
  if (ratePerMinute === undefined || status.releasedAt === null) return undefined
  return clock < laterBy(60_000 / ratePerMinute, status.releasedAt) ? 'rollout' : undefined
}

/** Creates a run for these devices, as far as they still match. */
export async function fireMatch(
  deps: FireDeps,
  before: StoredSchedule,
  match: Match,
  waiting: ReadonlySet<number>,
  upTo: number,
): Promise<boolean> {
  const { at, clock } = deps.moment()
  const own = Math.max(at, (before.lastFor ?? 0) + 1)
  const note = { upTo, where: match.digest }
  const occurrence = { for: own, principal: null, by: deps.firedBy, since: clock, match: note }
  const set = { occurrence, dueAt: at }
  return whileInFlight(deps, before, occurrence, async () => {
    if (!(await deps.store.changeSchedule({ before, set, at }))) return false
    const claimed = { ...before, ...set, version: before.version + 1 }
    const { launched } = await finishOccurrence(deps, claimed, async () =>
      launchMatch(deps, claimed, occurrence, match, await chooseLeft(deps, before, match, waiting)),
    )
    return launched !== undefined
  })
}

/** Chosen after the occurrence is claimed, so that no other node can give the job to the same devices. */
async function chooseLeft(
  deps: FireDeps,
  schedule: StoredSchedule,
  match: Match,
  waiting: ReadonlySet<number>,
): Promise<ChosenDevices> {
  const left = await withoutGiven(deps, schedule, match, [...waiting])
  return chooseFrom(deps, schedule, match, [...left])
}
