// Whether the database still answers this node, measured on the node's monotonic clock. A node that alone lost its connection
// must not keep callers and devices waiting that another node could serve.

/** Longer than a slow disk or a restart of the database usually takes. */
const awayAfterMs = 5000
/** If the node itself was blocked for this long, its measurement is void: answers may have arrived unread. */
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
   * Call about once a second, while queries are sent at least as often. True: give up pending queries. While the database
   * stays away, it returns true again each time that new attempts got no answer for as long.
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
