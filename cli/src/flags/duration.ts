// Durations and instants as people write them on a command line.

import { InvalidArgumentError } from 'commander'

const secondsOf: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const durationForm = /^(\d{1,9})([smhd])$/

/** For commander: 90d, 12h, 30m, 45s -> seconds. */
export function durationSeconds(text: string): number {
  const [, number, unit = ''] = durationForm.exec(text) ?? []
  if (number === undefined)
    throw new InvalidArgumentError('It must be a duration such as 90d, 12h, 30m or 45s.')
  return Number(number) * (secondsOf[unit] ?? 0)
}

/** For commander: an instant, a day (midnight UTC), or a duration from now. */
export function instantAhead(text: string): string {
  return durationForm.test(text) ? fromNow(durationSeconds(text)) : instantOf(text)
}

/** The same, but a duration counts back from now. */
export function instantBack(text: string): string {
  return durationForm.test(text) ? fromNow(-durationSeconds(text)) : instantOf(text)
}

function fromNow(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString()
}

function instantOf(text: string): string {
  const ms = /^\d{4}-\d\d-\d\d(?:T.*(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) {
    throw new InvalidArgumentError(
      'It must be a date or time such as 2027-01-31 or 2027-01-31T09:30:00Z, or a duration such as 90d.',
    )
  }
  return new Date(ms).toISOString()
}
