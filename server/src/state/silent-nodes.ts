// Which of the other nodes have said nothing for how long. Judged by what this node has seen itself, on its own clock: one
// on a wall, also the database's, may jump, and then all the others would seem to be gone.

export type SeenNode = {
  nodeNo: number
  /** Another one each time the node says that it lives. */
  beat: number
}

/** Whoever could not look for so long must not judge others by their silence: they may have been in the same trouble. */
const ownSilenceMs = 2000

export class SilentNodes {
  /** Milliseconds that never jump. */
  readonly #elapsed: () => number
  #seen = new Map<number, { beat: number; since: number }>()
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** To be called about once a second with all that there are. */
  look(nodes: SeenNode[]): (SeenNode & { silentMs: number })[] {
    const now = this.#elapsed()
    const before = now - this.#lookedAt > ownSilenceMs ? new Map() : this.#seen
    this.#lookedAt = now
    this.#seen = new Map()
    return nodes.map(({ nodeNo, beat }) => {
      const known = before.get(nodeNo)
      const since = known?.beat === beat ? known.since : now
      this.#seen.set(nodeNo, { beat, since })
      return { nodeNo, beat, silentMs: now - since }
    })
  }
}
