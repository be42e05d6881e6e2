// How many executions a rate allows to release now. Instants are whole milliseconds, as in the stores. Parts of an
// execution are counted in 60,000ths: a rate of 7 a minute adds 7 per millisecond, so nothing is rounded and no rate
// drifts, whether or not it divides a minute.

import { laterBy, latest, type SteadyInstant } from '../common/instants.ts'

type Paced = {
  /** When an execution was last released; null: none yet. */
  releasedAt: SteadyInstant | null
  /** What was left over then, in 60,000ths of an execution. */
  allowance: number
  /** When the wave began, or was resumed: time before it allows one execution at most. */
  watchedSince: SteadyInstant | null
}

const wholeOne = 60_000
/**
 * How much delay of a ticker is caught up with. In any ten seconds, at most a tenth more than the rate is released.
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

/** Time spent at a gate or in a pause allows one execution at most: the next one. */
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
