// Time limits of executions that windows and freezes may hold back: neither expireAfterSeconds nor deadlineSeconds runs
// meanwhile. Nothing is written for what is held back: when a clock is due, the history of the windows says how long that
// was, and the clock is set again for the whole range. Executions that are held back alike are judged once.

import { laterBy, type SteadyInstant, steadyInstant } from '../common/instants.ts'
import { type Holder, holderKey, type OfferChange, type OfferHistory } from '../window/offer-history.ts'
import type { Life, Policy, RunClock } from './execution.ts'

type LimitPolicy = Policy & { deadlineSeconds: number | null }

/** What decides when an execution that waits ends by itself. */
export type TimeLimits = {
  life: Life
  policy: Pick<LimitPolicy, 'expireAfterSeconds' | 'deadlineSeconds'>
  /** Since when its first expiry counts; null: it has none, or is not released. */
  countsFrom: SteadyInstant | null
  /** Undefined: nothing has ever held it back. */
  holder: Holder | undefined
  changes: OfferChange[]
}

/** Due at `base` and as much later as it is held back after `from`; without `holder` at `base`. */
export type HeldClock = { base: SteadyInstant; from: SteadyInstant; holder: Holder | undefined }

/**
 * So soon a clock is looked at again although its time cannot come while it is held back: what has less time left may end so
 * much later after it is offered again.
 */
const leastWaitMs = 5000

/** That of one execution which the clock of its run or release ends; `countsFrom`: since when the expiry counts. */
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

/** Since when it waits, for its first attempt since it was released. */
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

/** When a clock that is not due is to be looked at again. */
export function lookAgainAt(clock: HeldClock, history: OfferHistory, now: SteadyInstant): SteadyInstant {
  const due = dueAt(clock, history, now)
  const isHeld = clock.holder !== undefined && history.isHeld(clock.holder)
  return isHeld ? steadyInstant(Math.max(due, now + leastWaitMs)) : due
}

/** Beyond this, all executions of a range are looked at each time. */
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
    const next = lookAgainAt(clock, history, now)
    if (this.#earliest === undefined || next < this.#earliest) this.#earliest = next
  }

  /** When the first of them is to be looked at again. */
  get next(): SteadyInstant | undefined {
    return this.#earliest
  }

  /** The same by now; undefined: one of them may be due. */
  nextBy(history: OfferHistory, now: SteadyInstant): SteadyInstant | undefined {
    const clocks = [...this.#kinds.values()]
    if (clocks.length === 0 || clocks.length > mostKinds) return undefined
    if (clocks.some((clock) => dueAt(clock, history, now) <= now)) return undefined
    return steadyInstant(Math.min(...clocks.map((clock) => lookAgainAt(clock, history, now))))
  }

  get holders(): Holder[] {
    return [...this.#kinds.values()].flatMap(({ holder }) => holder ?? [])
  }
}
