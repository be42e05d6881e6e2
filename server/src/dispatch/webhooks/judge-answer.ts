// What a receiver's response means for the event that was sent.

import type { Answer } from './event-poster.ts'
import { retryDelay } from './retry-delay.ts'

type Verdict =
  | { kind: 'accepted' }
  /** All retries, about a day of them, are used up. */
  | { kind: 'given-up' }
  /** The receiver wants no more events of any kind. */
  | { kind: 'gone' }
  | { kind: 'retry'; delay: number; tries: number }

const gone = 410

/** Probes of a receiver that is down say nothing about the event, so they do not count as tries. */
export function judgeAnswer(
  { status, error, retryAfterMs }: Answer,
  { tries, isProbe, chance }: { tries: number; isProbe: boolean; chance: number },
): Verdict {
  if (error === null) return { kind: 'accepted' }
  if (status === gone) return { kind: 'gone' }
  const counted = isProbe ? tries : tries + 1
  const delay = retryDelay(Math.max(1, counted), chance)
  if (delay === undefined) return { kind: 'given-up' }
  return { kind: 'retry', delay: Math.max(delay, retryAfterMs), tries: counted }
}
