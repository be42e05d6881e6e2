// Which runs have another priority than the default. By runs, not by executions: a run may have a million of them. Most
// services have none.

import { defaultPriority } from '@jobcast/contract/words'

/** `to`: not included. `unfinished`: how many of its executions have not ended. */
export type PrioritizedRun = { runId: number; from: number; to: number; priority: number; unfinished: number }

/** The priorities of executions. */
export type Ranks = {
  readonly isEmpty: boolean
  /** None is higher. */
  readonly highest: number
  of(jobExecutionId: number): number
}

export class Priorities implements Ranks {
  /** By their ids; runs do not overlap. */
  readonly #runs: PrioritizedRun[] = []
  #highest = defaultPriority

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  get highest(): number {
    return this.#highest
  }

  of(jobExecutionId: number): number {
    return this.#find(jobExecutionId)?.priority ?? defaultPriority
  }

  add(run: PrioritizedRun): void {
    this.#runs.splice(this.#positionOf(run.from), 0, { ...run })
    this.#highest = Math.max(this.#highest, run.priority)
  }

  drop(runId: number): void {
    const at = this.#runs.findIndex((run) => run.runId === runId)
    if (at < 0) return
    this.#runs.splice(at, 1)
    this.#highest = this.#runs.reduce((most, { priority }) => Math.max(most, priority), defaultPriority)
  }

  /** An execution has ended. */
  ended(jobExecutionId: number): void {
    const run = this.#find(jobExecutionId)
    if (run && --run.unfinished === 0) this.drop(run.runId)
  }

  #find(jobExecutionId: number): PrioritizedRun | undefined {
    const run = this.#runs[this.#positionOf(jobExecutionId + 1) - 1]
    return run !== undefined && jobExecutionId < run.to ? run : undefined
  }

  /** How many runs begin below the id. */
  #positionOf(id: number): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle] as PrioritizedRun).from < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
