// Time limits of executions that windows and freezes may hold back: neither expireAfterSeconds nor deadlineSeconds runs
// meanwhile. A hold writes nothing to executions: when a clock is due, the history of the windows tells how long they were
// held back, and the clock is set again for the whole range. Executions with equal holds are judged once.

import { laterBy, type SteadyInstant, steadyInstant } from '../common/instants.ts'
import { type Holder, holderKey, type OfferChange, type OfferHistory } from '../window/offer-history.ts'
import type { Life, Policy, RunClock } from './execution.ts'

type LimitPolicy = Policy & { deadlineSeconds: number | null }

/** What determines when a PENDING execution expires. */
export type TimeLimits = {
  life: Life
  policy: Pick<LimitPolicy, 'expireAfterSeconds' | 'deadlineSeconds'>
  /** When its first expiry clock started; null: it has none, or is not released. */
  countsFrom: SteadyInstant | null
  /** Undefined: nothing can have held it back. */
  holder: Holder | undefined
  changes: OfferChange[]
}

/** Due at `base` plus the time it is held back after `from`; without `holder`, at `base`. */
export type HeldClock = { base: SteadyInstant; from: SteadyInstant; holder: Holder | undefined }

/**
 * The minimum delay before a held clock is checked again. An execution with less time left may end that much late after the
 * hold.
 */
const leastWaitMs = 5000

/** The clock of one execution under the clock of its run or release. `countsFrom`: when the expiry clock started. */
export function heldClockOf(
  clock: RunClock,
  life: Life,
  policy: LimitPolicy,
  countsFrom: SteadyInstant | null,
  holder: Holder | undefined,
): HeldClock | undefined {
  if (clock === 'expire') {
    if (policy.expireAfterSeconds === null || countsFrom === null) return undefined
    return { base: laterBy(policy.expireAfterSeconds * 1000, countsFrom), from: countsFrom, holder }
  }
  if (life.deadlineAt === null) return undefined
  const from = waitsFrom(life, policy)
  return { base: life.deadlineAt, from, holder: life.execState === 'PENDING' ? holder : undefined }
}

/** The expiry of a later attempt, which is the execution's own clock. */
export function ownExpiry(
  { dueAt, waitsFrom }: Life,
  { expireAfterSeconds }: Policy,
  holder: Holder | undefined,
): HeldClock | undefined {
  if (dueAt === null || expireAfterSeconds === null) return undefined
  const from = waitsFrom ?? laterBy(-expireAfterSeconds * 1000, dueAt)
  return { base: laterBy(expireAfterSeconds * 1000, from), from, holder }
}

/** When its wait began; for the first attempt, its release. */
export function waitsFrom(
  { waitsFrom, deadlineAt, heldMs }: Life,
  { deadlineSeconds }: Pick<LimitPolicy, 'deadlineSeconds'>,
): SteadyInstant {
  if (waitsFrom !== null || deadlineAt === null) return waitsFrom ?? steadyInstant(Number.POSITIVE_INFINITY)
  return laterBy(-heldMs - (deadlineSeconds ?? 0) * 1000, deadlineAt)
}

export function dueAt({ base, from, holder }: HeldClock, history: OfferHistory, now: SteadyInstant) {
  return holder === undefined ? base : laterBy(history.heldMs(holder, from, now), base)
}

/** When to check a clock again that is not due. */
export function recheckAt(clock: HeldClock, history: OfferHistory, now: SteadyInstant): SteadyInstant {
  const due = dueAt(clock, history, now)
  const isHeld = clock.holder !== undefined && history.isHeld(clock.holder)
  return isHeld ? steadyInstant(Math.max(due, now + leastWaitMs)) : due
}

/** With more kinds than this, all executions of a range are checked each time. */
const mostKinds = 1000

/** The clocks of a range that were found not to be due, each kind once. */
export class WaitingClocks {
  readonly #kinds = new Map<string, HeldClock>()
  #earliest: SteadyInstant | undefined

  get isEmpty(): boolean {
    return this.#earliest === undefined
  }

  add(clock: HeldClock, history: OfferHistory, now: SteadyInstant): void {
    const { base, from, holder } = clock
    const key = `${base} ${holder ? `${from} ${holderKey(holder, from)}` : ''}`
    if (this.#kinds.has(key)) return
    if (this.#kinds.size <= mostKinds) this.#kinds.set(key, clock)
    const next = recheckAt(clock, history, now)
    if (this.#earliest === undefined || next < this.#earliest) this.#earliest = next
  }

  /** When to check the first of them again. */
  get next(): SteadyInstant | undefined {
    return this.#earliest
  }

  /** The same, computed now; undefined: one of them may be due. */
  nextBy(history: OfferHistory, now: SteadyInstant): SteadyInstant | undefined {
    const clocks = [...this.#kinds.values()]
    if (clocks.length === 0 || clocks.length > mostKinds) return undefined
    if (clocks.some((clock) => dueAt(clock, history, now) <= now)) return undefined
    return steadyInstant(Math.min(...clocks.map((clock) => recheckAt(clock, history, now))))
  }

  get holders(): Holder[] {
    return [...this.#kinds.values()].flatMap(({ holder }) => holder ?? [])
  }
}
