// A cache of the oldest unfinished run of each owner. A run has at most one execution per device, so no device has more
// unfinished executions than there are runs since then. While that is far below the limit per device, nothing is counted. The
// oldest run only moves forward, so the cached value is safe; runs of other nodes are accounted for by a factor.

const mostOwners = 10_000
/** Other nodes may have created as many runs since this one got its last id. */
const allowance = 2

export class OldestRuns {
  readonly #oldest = new Map<number, number>()
  #lastRunId = 0

  /** `runs`: the number of runs from the owner's oldest unfinished one to the last one. */
  note(ownerNo: number, runs: number, lastRunId: number): void {
    if (this.#oldest.size >= mostOwners) this.#oldest.clear()
    this.#oldest.set(ownerNo, lastRunId + 1 - runs)
    this.follow(lastRunId)
  }

  /** This node has got the id. */
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
