// Runs with another priority than the default. Most services have none.

import { defaultPriority } from '@jobcast/contract/words'
import { addRange, type RunRange, rangeOf } from './run-ranges.ts'

/** `unfinished`: the number of unfinished executions. */
export type PrioritizedRun = RunRange & { priority: number; unfinished: number }

/** The priorities of executions. */
export type Ranks = {
  readonly isEmpty: boolean
  /** The highest priority. */
  readonly highest: number
  of(jobExecutionId: number): number
}

export class Priorities implements Ranks {
  readonly #runs: PrioritizedRun[] = []
  #highest = defaultPriority

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  get highest(): number {
    return this.#highest
  }

  of(jobExecutionId: number): number {
    return rangeOf(this.#runs, jobExecutionId)?.priority ?? defaultPriority
  }

  add(run: PrioritizedRun): void {
    addRange(this.#runs, { ...run })
    this.#highest = Math.max(this.#highest, run.priority)
  }

  drop(runId: number): void {
    const at = this.#runs.findIndex((run) => run.runId === runId)
    if (at < 0) return
    this.#runs.splice(at, 1)
    this.#highest = this.#runs.reduce((most, { priority }) => Math.max(most, priority), defaultPriority)
  }

  /** Records the end of an execution. */
  ended(jobExecutionId: number): void {
    const run = rangeOf(this.#runs, jobExecutionId)
    if (run && --run.unfinished === 0) this.drop(run.runId)
  }
}
