// How many executions a rate lets out by now. All instants are whole milliseconds, as the stores keep them. What the rate
// has allowed of the next execution is counted in 60,000ths of it: a rate of 7 a minute adds 7 with each millisecond, so
// nothing is rounded and no rate drifts, whether or not it divides a minute.

import { laterBy, latest, type SteadyInstant } from '../common/instants.ts'

type Paced = {
  /** When one was released last; null: none yet. */
  releasedAt: SteadyInstant | null
  /** What was left over then, in 60,000ths of an execution. */
  allowance: number
  /** When the wave began, or was resumed: what could have been released before is not made up for. */
  watchedSince: SteadyInstant | null
}

const wholeOne = 60_000
/**
 * How late the next one may be for the time to be made up for: as long as a ticker takes that is late. At most a tenth
 * more than the rate is released in any ten seconds.
 */
const maxCatchUpMs = 1000

export function paceRelease(
  paced: Paced,
  perMinute: number,
  now: SteadyInstant,
): { count: number; allowance: number; nextAt: SteadyInstant } {
  if (paced.releasedAt === null) return { count: 1, allowance: 0, nextAt: nextAfter(now, 0, perMinute) }
  const { since, allowance } = startOf(paced, paced.releasedAt, perMinute)
  const earned = allowance + Math.max(0, now - since) * perMinute
  const usable = Math.min(earned, wholeOne + maxCatchUpMs * perMinute)
  const count = Math.floor(usable / wholeOne)
  if (count === 0) return { count, allowance, nextAt: nextAfter(since, allowance, perMinute) }
  const left = usable - count * wholeOne
  return { count, allowance: left, nextAt: nextAfter(now, left, perMinute) }
}

/** Of a time at a gate or in a pause one execution counts: the one that is due at the latest. */
function startOf(
  { watchedSince, allowance }: Paced,
  releasedAt: SteadyInstant,
  perMinute: number,
): { since: SteadyInstant; allowance: number } {
  const since = latest(releasedAt, watchedSince ?? undefined)
  return { since, allowance: Math.min(wholeOne, allowance + (since - releasedAt) * perMinute) }
}

function nextAfter(since: SteadyInstant, allowance: number, perMinute: number): SteadyInstant {
  return laterBy(Math.max(1, Math.ceil((wholeOne - allowance) / perMinute)), since)
}
