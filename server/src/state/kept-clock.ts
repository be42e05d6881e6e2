// Keeps the steady clock of a single node on disk, so that it goes on after a restart where it was. A wall clock that is
// corrected while the service runs, as machines without a battery do after every boot, then ends nothing.

import { type BothClocks, resumeClock, type WallInstant } from '../domain/common/instants.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { SteadyClock } from './steady-clock.ts'

type KeptClockDeps = {
  store: Pick<Store, 'getSteadyClock' | 'recordSteadyClock'>
  steady: SteadyClock
  now: () => WallInstant
}

/** While nothing jumps. After a crash the wall clock says how long ago that was. */
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

  /** Writes only when the clocks have moved apart, or once in a while. */
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
