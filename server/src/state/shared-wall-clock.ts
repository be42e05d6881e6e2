// The wall clock of all nodes on a database: the database's. A node whose own clock is wrong shows and stores the same
// instants as the others. Between two heartbeats it goes on with the steady clock.

import type { BothClocks, WallInstant } from '../domain/common/instants.ts'
import type { SteadyClock } from './steady-clock.ts'

/** A reading is late by its round trip: smaller differences are not followed. */
const ignoredMs = 50

export class SharedWallClock {
  readonly #steady: SteadyClock
  /** Of the steady clock. */
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
