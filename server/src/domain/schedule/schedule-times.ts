// When a schedule is due: its occurrences, their jitter, and which ones were missed.

import { hash } from 'node:crypto'
import { nextExcept } from '@jobcast/contract/cron'
import type { WallInstant } from '../common/instants.ts'
import { readCron } from './cron-pattern.ts'
import type { ScheduleState, StoredScheduleContent } from './ports/schedules.ts'

/** The fields that determine its times. */
type Timed = Pick<StoredScheduleContent, 'when' | 'except' | 'until' | 'jitterSeconds' | 'catchUpSeconds'>

/** How many missed occurrences are counted. */
const mostMissed = 1000

/** The first occurrence after this instant; undefined: there is none. */
export function nextOccurrence(timed: Timed, after: WallInstant): WallInstant | undefined {
  const { until } = timed
  const next = occurrenceAfter(timed, after)
  return next === undefined || (until !== null && next > until) ? undefined : next
}

function occurrenceAfter({ when, except }: Timed, after: WallInstant): WallInstant | undefined {
  switch (when.kind) {
    case 'match':
      return undefined
    case 'at':
      return when.at > after ? when.at : undefined
    case 'cron':
      return nextExcept(readCron(when.cron, when.timeZone, 'when'), except, when.timeZone, after)
  }
}

/** When an occurrence runs: deterministic, and before the next occurrence. */
function dueAtOf(timed: Timed, scheduleNo: number, occurrence: WallInstant): WallInstant {
  if (timed.jitterSeconds === 0) return occurrence
  const next = occurrenceAfter(timed, occurrence)
  const room = next === undefined ? Number.POSITIVE_INFINITY : next - occurrence
  const most = Math.min(timed.jitterSeconds * 1000 + 1, room)
  const drawn = hash('sha256', `${scheduleNo} ${occurrence}`, 'buffer').readUIntBE(0, 6)
  return occurrence + Math.floor((drawn / 2 ** 48) * most)
}

/** The next occurrence after this instant, and when it is due. */
export function timesAfter(
  timed: Timed,
  scheduleNo: number,
  after: WallInstant,
): Pick<ScheduleState, 'nextFor' | 'dueAt'> {
  const nextFor = nextOccurrence(timed, after)
  if (nextFor === undefined) return { nextFor: null, dueAt: null }
  return { nextFor, dueAt: dueAtOf(timed, scheduleNo, nextFor) }
}

type Due = {
  /** Undefined: it is too late for all of them. */
  occurrence: WallInstant | undefined
  missed: { count: number; isMore: boolean; from: WallInstant; to: WallInstant } | undefined
  times: Pick<ScheduleState, 'nextFor' | 'dueAt'>
}

/** Of all due occurrences since `nextFor`, the latest one runs, unless it is too late; the others are missed. */
export function judgeDue(timed: Timed, scheduleNo: number, nextFor: WallInstant, now: WallInstant): Due {
  const late = latestDue(timed, scheduleNo, nextFor, now)
  const dueAt = dueAtOf(timed, scheduleNo, late)
  const occurrence = now - dueAt <= timed.catchUpSeconds * 1000 + toleratedMs ? late : undefined
  return {
    occurrence,
    missed: missedOf(timed, nextFor, occurrence === undefined ? late + 1 : late),
    times: timesAfter(timed, scheduleNo, late),
  }
}

/** Sweeps are not instant: with catch-up disabled, an occurrence still runs if the service is up. */
const toleratedMs = 10_000

/** Searches backwards, because there may be very many occurrences since `nextFor`. */
function latestDue(timed: Timed, scheduleNo: number, nextFor: WallInstant, now: WallInstant): WallInstant {
  let latest = nextFor
  for (let back = 60_000; ; back *= 4) {
    const from = now - back
    let found = nextOccurrence(timed, Math.max(from, nextFor))
    for (; found !== undefined && dueAtOf(timed, scheduleNo, found) <= now; ) {
      latest = found
      found = nextOccurrence(timed, found)
    }
    if (latest > nextFor || from <= nextFor) return latest
  }
}

/** Occurrences from the first one up to, but not including, that instant. */
function missedOf(timed: Timed, first: WallInstant, before: WallInstant): Due['missed'] {
  if (first >= before) return undefined
  let [count, to] = [1, first]
  for (let next = nextOccurrence(timed, first); next !== undefined && next < before; ) {
    if (count === mostMissed) return { count, isMore: true, from: first, to }
    count++
    to = next
    next = nextOccurrence(timed, next)
  }
  return { count, isMore: false, from: first, to }
}
