// The part of the store's port for counts over time, under the rules of store.ts.

import type { ExecState } from '@jobcast/contract'
import type { RunKey } from '../../trigger/ports/runs.ts'
import type { Flow } from './fleet.ts'

/** Counts of executions launched in one time step with one job. */
export type LaunchedCounts = {
  stepNo: number
  jobName: string
  total: number
  counts: Record<ExecState, number>
}

/** The duration of an execution that succeeded. */
export type Duration = { stepNo: number; jobName: string; ms: number }

export type StatsQuestion = {
  ownerNo: number
  jobName?: string
  /** Job names or patterns, one of which must match (matchesJob). */
  jobs?: readonly string[]
  /** Launched from `from` up to, but not including, `to`. */
  from: number
  to: number
  stepMs: number
  /** The maximum number of runs; the newest are read. */
  maxRuns: number
  /** The maximum number of executions, evenly sampled, whose durations are read. */
  maxDurations: number
}

export type StoredStats = {
  launched: LaunchedCounts[]
  durations: Duration[]
  /** The launch time of the oldest run that was read, if there were more than `maxRuns`. */
  completeFrom: number | undefined
}

/** Runs launched in the range, newest first: those with up to `maxExecutions` executions together, and always the newest one. */
type LaunchedRunsQuestion = Omit<StatsQuestion, 'stepMs' | 'maxDurations'> & { maxExecutions: number }
export type LaunchedRun = { runId: number; jobName: string; launchedAt: number; total: number }

export type StatsStore = {
  /**
   * Counts state changes of every `stride`-th execution of the run, by time step after `from`
   * (`stepNo` is the quotient); unordered.
   */
  countRunFlows(question: RunKey & { from: number; stepMs: number; stride: number }): Promise<Flow[]>
  /** Searches by run id, which grows with time: if the wall clock was set back, runs at the edge may be missing. */
  readStats(question: StatsQuestion): Promise<StoredStats>
  listLaunchedRuns(question: LaunchedRunsQuestion): Promise<{ runs: LaunchedRun[]; isComplete: boolean }>
}
