// Whether the database still answers this node, measured on the node's monotonic clock. A node that is cut off alone must
// not keep callers and devices waiting that another node could serve.

/** Longer than a slow disk or a restart of the database usually takes. */
const awayAfterMs = 5000
/** A node that stood still for this long knows nothing: the answers may only not have been read yet. */
const ownSilenceMs = 2000

export class DatabaseWatch {
  /** Monotonic milliseconds. */
  readonly #elapsed: () => number
  #silentSince: number
  #checkedAt = Number.NEGATIVE_INFINITY
  #isAway = false

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
    this.#silentSince = elapsed()
  }

  get isAway(): boolean {
    return this.#isAway
  }

  answered(): void {
    this.#silentSince = this.#elapsed()
    this.#isAway = false
  }

  /**
   * Call about once a second, while something is asked at least as often. True: what waits for an answer should be given
   * up. While the database stays away, it is true again each time that new attempts got no answer for as long.
   */
  check(): boolean {
    const now = this.#elapsed()
    if (now - this.#checkedAt > ownSilenceMs) this.#silentSince = now
    this.#checkedAt = now
    if (now - this.#silentSince < awayAfterMs) return false
    this.#silentSince = now
    this.#isAway = true
    return true
  }
}
