// The oldest unfinished run of each owner, as it was last read. A run has one execution of a device at most, so no device
// has more unfinished ones than there are runs since then. While that is far below what a device may have, nothing is
// counted. The oldest run only grows, so what is remembered is on the safe side; runs of other nodes are allowed for.

const mostOwners = 10_000
/** Other nodes may have made as many runs since this one was given its last id. */
const allowance = 2

export class OldestRuns {
  readonly #oldest = new Map<number, number>()
  #lastRunId = 0

  /** `runs`: how many there are from the oldest unfinished one of the owner to the last one. */
  note(ownerNo: number, runs: number, lastRunId: number): void {
    if (this.#oldest.size >= mostOwners) this.#oldest.clear()
    this.#oldest.set(ownerNo, lastRunId + 1 - runs)
    this.follow(lastRunId)
  }

  /** This node was given the id. */
  follow(runId: number): void {
    this.#lastRunId = Math.max(this.#lastRunId, runId)
  }

  isFarBelow(ownerNo: number, perDevice: number): boolean {
    const oldest = this.#oldest.get(ownerNo)
    return oldest !== undefined && (this.#lastRunId + 1 - oldest) * allowance < perDevice
  }

  clear(): void {
    this.#oldest.clear()
    this.#lastRunId = 0
  }
}
