// When a window is open in a zone: for its duration from each time of its pattern on, unless the local date is an exception.
// Spans without a gap are one opening. Nothing new is offered during the cutoff at the end of an opening.

import { ExceptSpans } from '@jobcast/contract/cron'
import { type CronPattern, readCron } from '../schedule/cron-pattern.ts'
import type { WindowRule } from './ports/windows.ts'

/** `until`, `offersUntil`: exclusive. */
export type Opening = { from: number; until: number; offersUntil: number }

/** `goesOn`: it may be open longer; later times have not been computed. */
type Span = { from: number; until: number; goesOn?: boolean }

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** A window that does not close is computed a day at a time. */
const longestSpanMs = dayMs
/** Far more than exceptions can make necessary. */
const mostSteps = 1000

export class WindowTimes {
  readonly #pattern: CronPattern
  readonly #durationMs: number
  readonly #cutoffMs: number
  readonly #except: ExceptSpans

  /** `zone`: the device's, or the window's own. Throws J-507. */
  constructor({ cron, durationMinutes, cutoffMinutes, except }: Omit<WindowRule, 'timeZone'>, zone: string) {
    this.#pattern = readCron(cron, zone, '')
    this.#durationMs = durationMinutes * minuteMs
    this.#cutoffMs = cutoffMinutes * minuteMs
    this.#except = new ExceptSpans(except, zone)
  }

  /** The first opening that closes after this instant; undefined: there is none. */
  opening(after: number): Opening | undefined {
    let at = after
    for (let steps = 0; steps < mostSteps; steps++) {
      const begin = this.#pattern.next(at - this.#durationMs)
      if (begin === undefined) return undefined
      const { open, closedUntil } = this.#openAfter(at, begin)
      if (open) return this.#toOpening(open)
      // Exceptions close all of it; a long exception is skipped in one step.
      at = closedUntil
    }
    return undefined
  }

  /** The first open part after `at` of the span that begins at `begin`, computed far enough to know until when it offers. */
  #openAfter(at: number, begin: number): { open: Span | undefined; closedUntil: number } {
    for (let bound = begin + longestSpanMs; ; ) {
      const span = this.#spanFrom(begin, bound + this.#cutoffMs)
      const closed = this.#except.in(span)
      const open = partsOf(span, closed).find(({ until }) => until > at)
      const closedUntil = Math.max(span.until, ...closed.map(({ until }) => until - 1))
      const needed = Math.max(at, open?.from ?? 0)
      if (!open?.goesOn || open.until - this.#cutoffMs > needed) return { open, closedUntil }
      bound = needed + longestSpanMs
    }
  }

  /** The first opening in which something may be offered after this instant. */
  nextOffer(after: number): Opening | undefined {
    let found = this.opening(after)
    for (let steps = 0; found && steps < mostSteps; steps++) {
      if (found.offersUntil > Math.max(found.from, after)) return found
      found = this.opening(found.until)
    }
    return undefined
  }

  /** Joins occurrences without a gap, up to the first end after `bound`. */
  #spanFrom(begin: number, bound: number): Span {
    let last = begin
    let until = begin + this.#durationMs
    while (until <= bound) {
      const next = this.#pattern.next(last)
      if (next === undefined || next > until) return { from: begin, until }
      // If one begins exactly at the end, those in between can be skipped.
      last = this.#pattern.next(until - 1) === until ? until : next
      until = last + this.#durationMs
    }
    return { from: begin, until, goesOn: true }
  }

  #toOpening({ from, until, goesOn }: Span): Opening {
    const offersUntil = Math.max(from, until - this.#cutoffMs)
    // Not known whether it closes after `until`, so the result is valid only until `offersUntil`.
    return { from, until: goesOn ? offersUntil : until, offersUntil }
  }
}

/** The parts of the span that are not closed. */
function partsOf({ from, until, goesOn }: Span, closed: Span[]): Span[] {
  const parts: Span[] = []
  let at = from
  for (const each of closed) {
    if (each.from > at) parts.push({ from: at, until: each.from })
    at = Math.max(at, each.until)
  }
  if (at < until) parts.push({ from: at, until, ...(goesOn && { goesOn }) })
  return parts
}
