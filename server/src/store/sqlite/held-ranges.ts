// Executions that must not be offered yet: in each run that is released in parts, those from an id on. Most services have none.

import { addRange, type RunRange, rangeOf } from './run-ranges.ts'

export class HeldRanges {
  readonly #ranges: RunRange[] = []

  get isEmpty(): boolean {
    return this.#ranges.length === 0
  }

  hold(runId: number, from: number, to: number): void {
    addRange(this.#ranges, { runId, from, to })
  }

  /** Executions from this id on remain held; null: none. */
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
    return rangeOf(this.#ranges, jobExecutionId) !== undefined
  }
}
