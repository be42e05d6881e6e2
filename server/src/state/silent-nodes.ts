// How long each other node has been silent, measured on this node's monotonic clock: a wall clock, even the database's,
// may jump, and then all other nodes would seem dead.

export type SeenNode = {
  nodeNo: number
  /** Changes with each heartbeat of the node. */
  beat: number
}

/** A node that could not observe for this long must not judge others: they may have had the same outage. */
const ownSilenceMs = 2000

export class SilentNodes {
  /** Monotonic milliseconds. */
  readonly #elapsed: () => number
  #seen = new Map<number, { beat: number; since: number }>()
  #observedAt = Number.NEGATIVE_INFINITY

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** Call about once a second with all other nodes. */
  observe(nodes: SeenNode[]): (SeenNode & { silentMs: number })[] {
    const now = this.#elapsed()
    const before = now - this.#observedAt > ownSilenceMs ? new Map() : this.#seen
    this.#observedAt = now
    this.#seen = new Map()
    return nodes.map(({ nodeNo, beat }) => {
      const previous = before.get(nodeNo)
      const since = previous?.beat === beat ? previous.since : now
      this.#seen.set(nodeNo, { beat, since })
      return { nodeNo, beat, silentMs: now - since }
    })
  }
}
