// Whether a receiver accepts events. While it is down, it is probed with one event at a time instead of being sent all:
// the others use up none of their retries, and are sent as soon as a probe is accepted.

import type { Clock } from './clock.ts'
import { probeDelay } from './retry-delay.ts'

/** Consecutive failures. */
const failuresUntilDown = 5
const failingMsUntilDown = 60_000
const failingMsUntilPaused = 24 * 60 * 60_000
/** After a restart, a receiver gets at least this long, however long it was failing before. */
const graceAfterRestartMs = 60 * 60_000

export class ReceiverHealth {
  readonly #clock: Clock
  readonly #chance: () => number
  #failures = 0
  #failedProbes = 0
  #failingSince: number | null
  /** `failingSince` on the monotonic clock. */
  #failingFrom: number | undefined
  #nextProbe = 0
  #heldUntil = 0
  /** Whether the last change to down was reported by `failed`. */
  #isKnownDown: boolean

  constructor(clock: Clock, chance: () => number, failingSince: number | null) {
    this.#clock = clock
    this.#chance = chance
    this.#failingSince = failingSince
    this.#isKnownDown = false
    if (failingSince === null) return
    const forMs = Math.max(0, clock.now() - failingSince)
    this.#failingFrom = clock.elapsed() - Math.min(forMs, failingMsUntilPaused - graceAfterRestartMs)
    // Reported before the restart.
    this.#isKnownDown = this.isDown
  }

  /** On the wall clock; null while the receiver accepts events. */
  get failingSince(): number | null {
    return this.#failingSince
  }

  get isDown(): boolean {
    return this.#failures >= failuresUntilDown || this.#failingForMs > failingMsUntilDown
  }

  /** Nothing was accepted for a day. */
  get shouldPause(): boolean {
    return this.#failingForMs >= failingMsUntilPaused
  }

  /** The earliest next request, on the monotonic clock. */
  get nextRequestAt(): number {
    return Math.max(this.#heldUntil, this.isDown ? this.#nextProbe : 0)
  }

  /** `wasDown`: events that wait for a retry can be sent. `isBack`: it was reported as down. */
  accepted(): { wasDown: boolean; isBack: boolean } {
    const wasDown = this.isDown
    const isBack = this.#isKnownDown
    this.#isKnownDown = false
    this.#failures = 0
    this.#failedProbes = 0
    this.#failingSince = null
    this.#failingFrom = undefined
    return { wasDown, isBack }
  }

  /** Returns true if the receiver is down from now on. */
  failed(isProbe: boolean): boolean {
    this.#failures++
    this.#failingSince ??= this.#clock.now()
    this.#failingFrom ??= this.#clock.elapsed()
    if (isProbe) this.#failedProbes++
    if (!this.isDown) return false
    this.#nextProbe = this.#clock.elapsed() + probeDelay(this.#failedProbes, this.#chance())
    const isNew = !this.#isKnownDown
    this.#isKnownDown = true
    return isNew
  }

  /** The receiver sent Retry-After. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.elapsed() + ms)
  }

  get #failingForMs(): number {
    return this.#failingFrom === undefined ? 0 : this.#clock.elapsed() - this.#failingFrom
  }
}
