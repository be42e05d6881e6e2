// A clock that never jumps: it starts at the wall clock and then advances with monotonic time. After a restart it continues
// from where it was, so that stored instants stay meaningful (kept-clock.ts; with several nodes, their heartbeats).

import { type SteadyInstant, steadyInstant, type WallInstant } from '../domain/common/instants.ts'

export class SteadyClock {
  readonly #elapsed: () => number
  #start: number

  constructor(now: () => WallInstant, elapsed: () => number) {
    this.#elapsed = elapsed
    this.#start = now() - elapsed()
  }

  now(): SteadyInstant {
    return steadyInstant(Math.round(this.#start + this.#elapsed()))
  }

  /** Continues from a clock that was recorded, or from that of another node. */
  startAt(clock: SteadyInstant): void {
    this.#start = clock - this.#elapsed()
  }

  /** Nodes follow the fastest of them: a node that lags behind would fire time-outs late. */
  keepUpWith(clock: SteadyInstant): void {
    if (clock > this.now()) this.startAt(clock)
  }
}
