// The wall clock shared by all nodes: that of their database. A node whose own clock is wrong shows and stores the same
// instants as the others. Between two heartbeats it advances with the steady clock.

import type { BothClocks, WallInstant } from '../domain/common/instants.ts'
import type { SteadyClock } from './steady-clock.ts'

/** A reading is late by up to its round trip, so smaller differences are ignored. */
const ignoredMs = 50

export class SharedWallClock {
  readonly #steady: SteadyClock
  /** Offset from the steady clock. */
  #aheadMs = 0

  constructor(steady: SteadyClock) {
    this.#steady = steady
  }

  readonly now = (): WallInstant => this.#steady.now() + this.#aheadMs

  follow({ at, clock }: BothClocks): void {
    const aheadMs = at - clock
    if (Math.abs(aheadMs - this.#aheadMs) > ignoredMs) this.#aheadMs = aheadMs
  }
}
