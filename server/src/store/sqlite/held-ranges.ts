// Which executions may not be offered yet: of each run that is released little by little, those from an id on. Most
// services have none.

/** `to`: not included. */
type HeldRange = { runId: number; from: number; to: number }

export class HeldRanges {
  /** By their ids; runs do not overlap. */
  readonly #ranges: HeldRange[] = []

  get isEmpty(): boolean {
    return this.#ranges.length === 0
  }

  hold(runId: number, from: number, to: number): void {
    const at = this.#positionOf(from)
    this.#ranges.splice(at, 0, { runId, from, to })
  }

  /** Only those from this id on are held any more; null: none. */
  release(runId: number, from: number | null): void {
    const at = this.#ranges.findIndex((range) => range.runId === runId)
    const range = this.#ranges[at]
    if (range === undefined) return
    if (from === null || from >= range.to) this.#ranges.splice(at, 1)
    else range.from = Math.max(range.from, from)
  }

  drop(runId: number): void {
    this.release(runId, null)
  }

  has(jobExecutionId: number): boolean {
    const range = this.#ranges[this.#positionOf(jobExecutionId + 1) - 1]
    return range !== undefined && jobExecutionId < range.to
  }

  /** How many ranges begin below the id. */
  #positionOf(id: number): number {
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ranges[middle] as HeldRange).from < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
