import type { Freeze } from '@jobcast/client'
import { parseTime } from '../parts/parse-time.ts'
import type { Rollout } from '../rollout/rollout-draft.ts'
import type { ZoneOfDevices } from './read-delivery.ts'

type Offer = { from: number; until: number }

/**
 * From when on devices of a zone are offered a run that is created at this instant, and until when the first opening
 * lasts. Undefined: not as far as is known.
 */
export function firstOffer(
  run: number,
  { openings }: Pick<ZoneOfDevices, 'openings'>,
  { frozen, until }: Pick<Freeze, 'frozen' | 'until'>,
): Offer | undefined {
  if (frozen && until === null) return undefined
  const begin = frozen && until !== null ? Math.max(run, parseTime(until)) : run
  if (openings === undefined) return { from: begin, until: Number.POSITIVE_INFINITY }
  const opening = openings.find((each) => each.until > begin)
  return opening && { from: Math.max(begin, opening.from), until: opening.until }
}

/** How long the rules of a rollout spread the release at least; gates may take longer. */
export function leastReleaseMs({ waves = [], ratePerMinute, next }: Rollout, total: number): number {
  const soakMs = Math.max(0, waves.length - 1) * (next?.soakSeconds ?? 0) * 1000
  const pacedMs = ratePerMinute ? Math.floor(total / ratePerMinute) * 60_000 : 0
  return soakMs + pacedMs
}
