// Whether a receiver accepts anything. While it does not, one event is tried now and then instead of each of them:
// what is not tried does not count as failed, and is sent as soon as one is accepted.

import type { Clock } from './clock.ts'
import { probeDelay } from './retry-delay.ts'

/** In a row. */
const failuresOfOneDown = 5
const failingMsOfOneDown = 60_000
const hopelessAfterMs = 24 * 60 * 60_000
/** After a restart it gets this long at least, however long it was failing before. */
const lastChanceMs = 60 * 60_000

export class ReceiverHealth {
  readonly #clock: Clock
  readonly #chance: () => number
  #failures = 0
  #failedProbes = 0
  #failingSince: number | null
  /** The same on the steady clock. */
  #failingFrom: number | undefined
  #nextProbe = 0
  #heldUntil = 0

  constructor(clock: Clock, chance: () => number, failingSince: number | null) {
    this.#clock = clock
    this.#chance = chance
    this.#failingSince = failingSince
    if (failingSince === null) return
    const forMs = Math.max(0, clock.now() - failingSince)
    this.#failingFrom = clock.elapsed() - Math.min(forMs, hopelessAfterMs - lastChanceMs)
  }

  /** On the wall clock; null while it accepts. */
  get failingSince(): number | null {
    return this.#failingSince
  }

  get isDown(): boolean {
    return this.#failures >= failuresOfOneDown || this.#failingForMs > failingMsOfOneDown
  }

  /** Nothing was accepted for a day. */
  get isHopeless(): boolean {
    return this.#failingForMs >= hopelessAfterMs
  }

  /** Not to be asked before, on the steady clock. */
  get askAt(): number {
    return Math.max(this.#heldUntil, this.isDown ? this.#nextProbe : 0)
  }

  /** True if it was down. */
  accepted(): boolean {
    const wasDown = this.isDown
    this.#failures = 0
    this.#failedProbes = 0
    this.#failingSince = null
    this.#failingFrom = undefined
    return wasDown
  }

  failed(isProbe: boolean): void {
    this.#failures++
    this.#failingSince ??= this.#clock.now()
    this.#failingFrom ??= this.#clock.elapsed()
    if (isProbe) this.#failedProbes++
    if (this.isDown) this.#nextProbe = this.#clock.elapsed() + probeDelay(this.#failedProbes, this.#chance())
  }

  /** It has asked for so much time. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.elapsed() + ms)
  }

  get #failingForMs(): number {
    return this.#failingFrom === undefined ? 0 : this.#clock.elapsed() - this.#failingFrom
  }
}
