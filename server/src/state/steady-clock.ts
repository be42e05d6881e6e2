// A clock that never jumps: it starts at the wall clock and then advances with monotonic time. Stored instants stay
// meaningful after a restart, because it starts from the wall clock again.

import { type SteadyInstant, steadyInstant, type WallInstant } from '../domain/instants.ts'

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

  /** Continues from the clock of another node. */
  startAt(clock: SteadyInstant): void {
    this.#start = clock - this.#elapsed()
  }

  /** Nodes follow the fastest of them: a node that lags behind would fire time-outs late. */
  keepUpWith(clock: SteadyInstant): void {
    if (clock > this.now()) this.startAt(clock)
  }
}
