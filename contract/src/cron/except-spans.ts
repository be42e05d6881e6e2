// Local dates on which a window is closed, or a schedule does not run.

import { dayOf } from './day-of.ts'
import { instantOf } from './zone-time.ts'

/** `until`: not included. */
type Span = { from: number; until: number }
type Days = { first: number; last: number }

const dayMs = 24 * 60 * 60_000

export class ExceptSpans {
  readonly #zone: string
  readonly #days: Days[]

  constructor(except: readonly string[], zone: string) {
    this.#zone = zone
    this.#days = except.map(toDays).sort((one, other) => one.first - other.first)
  }

  /** The excepted spans that overlap this one, in order. */
  in({ from, until }: Span): Span[] {
    // No zone is further than a day from UTC.
    const near = this.#days.filter(({ first, last }) => {
      return (first - 1) * dayMs < until && (last + 2) * dayMs > from
    })
    return near
      .map(({ first, last }) => {
        return {
          from: instantOf(this.#zone, first * dayMs),
          until: instantOf(this.#zone, (last + 1) * dayMs),
        }
      })
      .filter((closed) => closed.from < until && closed.until > from)
  }

  /** The end (exclusive) of the excepted span that contains this instant; undefined: none does. */
  endAt(instant: number): number | undefined {
    const around = this.in({ from: instant, until: instant + 1 })
    return around.length === 0 ? undefined : Math.max(...around.map(({ until }) => until))
  }
}

function toDays(text: string): Days {
  const [first = 0, last = first] = text.split('/').map((date) => dayOf(date))
  return { first, last }
}
