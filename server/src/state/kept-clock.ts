// Stores the steady clock of a single node on disk, so that it continues after a restart where it was. A correction of the wall
// clock, as on machines without a clock battery after every boot, then ends no execution.

import { type BothClocks, resumeClock, type WallInstant } from '../domain/common/instants.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { SteadyClock } from './steady-clock.ts'

type KeptClockDeps = {
  store: Pick<Store, 'getSteadyClock' | 'recordSteadyClock'>
  steady: SteadyClock
  now: () => WallInstant
}

/** Interval while no clock jumps. After a crash, the wall clock tells how much time has passed since. */
const recordEveryMs = 30_000
const jumpMs = 500

export class KeptClock {
  readonly #deps: KeptClockDeps
  #recorded: BothClocks | undefined

  constructor(deps: KeptClockDeps) {
    this.#deps = deps
  }

  async resume(): Promise<void> {
    const { store, steady, now } = this.#deps
    steady.startAt(resumeClock(await store.getSteadyClock(), now()))
  }

  /** Writes when the clocks have diverged, and otherwise at a fixed interval. */
  async recordIfDue(): Promise<void> {
    const both = this.#read()
    const before = this.#recorded
    if (before !== undefined) {
      const passedMs = both.clock - before.clock
      const jumpedMs = Math.abs(both.at - before.at - passedMs)
      if (passedMs < recordEveryMs && jumpedMs < jumpMs) return
    }
    await this.record()
  }

  async record(): Promise<void> {
    const both = this.#read()
    await this.#deps.store.recordSteadyClock(both)
    this.#recorded = both
  }

  #read(): BothClocks {
    return { at: this.#deps.now(), clock: this.#deps.steady.now() }
  }
}
