// What an answer means for the event that was sent.

import type { Answer } from './event-poster.ts'
import { retryDelay } from './retry-delay.ts'

export type Verdict =
  | { kind: 'accepted' }
  /** It was tried for about a day. */
  | { kind: 'given-up' }
  /** The receiver wants no more events, this one or others. */
  | { kind: 'gone' }
  | { kind: 'retry'; delay: number; tries: number }

const gone = 410

/** Attempts at a receiver that accepts nothing say nothing about the event: they do not count. */
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
