// A clock that never jumps. The one on the wall may be set at any time; this one starts with it and then only counts.
// What is kept on disk of it can be read after a restart, because it starts anew from the wall.

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

  /** Another node's clock, which this one must agree with: from now on it goes on from there. */
  startAt(clock: SteadyInstant): void {
    this.#start = clock - this.#elapsed()
  }

  /** Nodes agree on the fastest of them: to be behind it would let their clocks run out late. */
  keepUpWith(clock: SteadyInstant): void {
    if (clock > this.now()) this.startAt(clock)
  }
}
