// Wait limits, and elapsed time.

import { InvalidArgumentError } from 'commander'
import { durationSeconds } from './duration.ts'

/** A Node timer holds at most 2^31 ms; a longer one fires at once. */
const maxDays = 24

/** For commander: 90s, 10m, 1h -> milliseconds. */
export function waitMs(text: string): number {
  const seconds = durationSeconds(text)
  if (seconds === 0 || seconds > maxDays * 86_400)
    throw new InvalidArgumentError(`It must be a duration such as 90s, 10m or 1h, at most ${maxDays}d.`)
  return seconds * 1000
}

/** 0:05, 12:34, 1:02:03 */
export function elapsedText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (number: number) => String(number).padStart(2, '0')
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}
