// The part of the store's port for counts over time, under the rules of store.ts.

import type { ExecState } from '@jobcast/contract'
import type { RunKey } from '../../trigger/ports/runs.ts'
import type { Flow } from './fleet.ts'

/** Of executions launched in one time step with one job. */
export type LaunchedCounts = {
  stepNo: number
  jobName: string
  total: number
  counts: Record<ExecState, number>
}

/** How long an execution took that succeeded. */
export type Duration = { stepNo: number; jobName: string; ms: number }

export type StatsQuestion = {
  ownerNo: number
  jobName?: string
  /** Launched from `from` up to, but not including, `to`. */
  from: number
  to: number
  stepMs: number
  /** The newest runs are read, up to so many. */
  maxRuns: number
  /** Of so many executions at most, evenly chosen, durations are read. */
  maxDurations: number
}

export type StoredStats = {
  launched: LaunchedCounts[]
  durations: Duration[]
  /** When the oldest run that was read was launched, if there were more than `maxRuns`. */
  completeFrom: number | undefined
}

export type StatsStore = {
  /**
   * How many of every `stride`-th execution of the run went from one state to another, by time step after `from`
   * (`stepNo` is the quotient); unordered.
   */
  countRunFlows(question: RunKey & { from: number; stepMs: number; stride: number }): Promise<Flow[]>
  /** Goes by the ids of runs, which grow with time: where the wall clock was set back, runs at the edge may be left out. */
  readStats(question: StatsQuestion): Promise<StoredStats>
}
