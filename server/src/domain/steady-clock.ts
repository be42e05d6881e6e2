// A clock that never jumps. The one on the wall may be set at any time; this one starts with it and then only counts.
// What is kept on disk of it can be read after a restart, because it starts anew from the wall.

export class SteadyClock {
  readonly #elapsed: () => number
  #start: number

  constructor(now: () => number, elapsed: () => number) {
    this.#elapsed = elapsed
    this.#start = now() - elapsed()
  }

  now(): number {
    return Math.round(this.#start + this.#elapsed())
  }

  /** Another node's clock, which this one must agree with: from now on it goes on from there. */
  startAt(clock: number): void {
    this.#start = clock - this.#elapsed()
  }

  /** Nodes agree on the fastest of them: to be behind it would let their clocks run out late. */
  keepUpWith(clock: number): void {
    if (clock > this.now()) this.startAt(clock)
  }
}
