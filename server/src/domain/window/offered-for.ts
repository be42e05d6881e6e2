// When something will have been offered for a given time, by the current rules of windows.

import type { WallInstant } from '../common/instants.ts'
import type { WindowTimes } from './window-times.ts'

/** How many openings are checked: nightly ones for some years. */
const mostOpenings = 1000

/** Undefined: never, or unknown. `from`: nothing is offered before this instant. */
export function offeredFor(times: WindowTimes[], ms: number, from: WallInstant): WallInstant | undefined {
  let left = ms
  let at = from
  for (let steps = 0; steps < mostOpenings; steps++) {
    const openings = times.map((each) => each.nextOffer(at))
    if (openings.some((each) => each === undefined)) return undefined
    const begin = Math.max(at, ...openings.map((each) => each?.from ?? at))
    if (begin > at && openings.some((each) => (each?.offersUntil ?? begin) <= begin)) {
      at = begin
      continue
    }
    const until = Math.min(...openings.map((each) => each?.offersUntil ?? Number.POSITIVE_INFINITY))
    if (until - begin >= left) return begin + left
    left -= until - begin
    at = until
  }
  return undefined
}
