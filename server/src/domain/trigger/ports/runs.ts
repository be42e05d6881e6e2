import type { ExecState, RolloutState } from '@jobcast/contract'
import type { ParameterValues } from '@jobcast/contract/parameters'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'
import type { ExecutionMove, Moved } from '../../execution/ports/executions.ts'

export type RunKey = { ownerNo: number; runId: number }

export type StoredRun = {
  runId: number
  jobName: string
  /** The version of the job that it runs, for `getDocument`. */
  jobVersion: number
  /** The number of that version among those of its job. */
  version: number
  /** Secrets are masked. */
  parameters: ParameterValues
  launchedAt: number
  /** When its last execution ended; null while it has not finished. */
  endedAt: number | null
  /** The key that created it, and the key's name; null for runs from before this was recorded. */
  keyId: string | null
  keyName: string | null
  total: number
  counts: Record<ExecState, number>
  /** The run whose failures it retries. */
  retryOf: number | null
  /** The window in which its executions are offered; null: none. */
  window: string | null
  /** No window holds it back: not the job's, and not those of devices and groups. */
  ignoresWindows?: true
  /** Priority of its executions. */
  priority: number
  /** It replaces, or has replaced, PENDING executions of its job on its devices. */
  replaces: boolean
} & Omit<RunRequest, 'rollbackOnce' | 'planId' | 'plannedBy' | 'replaces'> &
  RunSchedule

/** Secrets are masked in `parameters`, and encrypted in `secrets`. */
export type RunValues = { parameters: ParameterValues; secrets: string | null }

/** What the call requested, besides job and devices. */
export type RunRequest = {
  /** The selector as requested; null for a list of devices. */
  where: string | null
  /** How many devices it matched. */
  matched: number | null
  note: string | null
  /** The run that it rolls back. */
  rollbackOf: number | null
  /** The same run, for its first rollback: the store accepts only one. */
  rollbackOnce?: number
  /** The plan that it was started from, and the plan's principal: the store accepts only one run per plan. */
  planId?: string
  plannedBy?: string
  /** 1: it has yet to replace PENDING executions of its job on its devices. */
  replaces?: 1
} & Partial<RunSchedule>

/** The schedule that created the run, and the occurrence; null: not created by a schedule. */
export type RunSchedule = {
  scheduleNo: number | null
  scheduleName: string | null
  scheduledFor: WallInstant | null
}

/** Executions that can be retried, or all that were released, whatever their state. */
export type RunEnds = 'unsuccessful' | 'released'

/** Instants: from `…After` on, up to but not including `…Before`. */
export type RunFilter = {
  jobName?: string
  /** Job names or patterns, one of which must match (matchesJob). */
  jobs?: readonly string[]
  /** Version of the job; only together with `jobName`. */
  version?: number
  finished?: boolean
  rolloutState?: RolloutState
  scheduleName?: string
  /** The run has at least one execution in one of these states. */
  execStates?: readonly ExecState[]
  launchedAfter?: number
  launchedBefore?: number
  finishedAfter?: number
  finishedBefore?: number
}

type SealedSecrets = { runId: number; ownerNo: number; secrets: string }

export type RunStore = {
  /** Runs that have yet to replace PENDING executions, in the order of their ids, without those that wait for their first approval. */
  listReplacing(list: {
    after: number
    limit: number
  }): Promise<{ ownerNo: number; runId: number; keyId: string }[]>
  /** The unfinished runs of the same job that were created before this one. */
  listReplaced(run: { runId: number }): Promise<{ runId: number; first: number; last: number }[]>
  setReplaced(run: { runId: number }): Promise<void>
  getRun(run: RunKey): Promise<StoredRun | undefined>
  /** Newest first. A slice may be short, even empty, before the end. */
  listRuns(list: OwnerList<number> & { filter: RunFilter }): Promise<Sliced<StoredRun, number>>
  /** Makes the run part of this trace. */
  setRunTrace(run: RunKey & { traceParent: string }): Promise<void>
  /** The existing devices of the run whose executions ended this way; undefined: no such run. */
  listEndedDevices(run: RunKey & { ends: RunEnds }): Promise<string[] | undefined>
  /** The first run that rolled this one back; undefined: none. */
  findRollback(run: RunKey): Promise<number | undefined>
  /** Whether one of the latest runs of this version, created before that run, was released completely. */
  wasReleased(version: { jobNo: number; versionNo: number; before: number }): Promise<boolean>
  /** The values of a run's parameters; undefined: it has none. */
  getRunValues(run: { runId: number }): Promise<RunValues | undefined>
  /** Runs whose parameters have secrets, in the order of their ids. */
  listSealed(page: { after: number; limit: number }): Promise<SealedSecrets[]>
  /** Replaces each only if it is unchanged. */
  replaceSealed(change: { sealed: { runId: number; before: string; secrets: string }[] }): Promise<void>
  /**
   * Moves a batch of the run's executions whose state allows it, in the order of their ids, up to `to` (default: all). `next`
   * is the `from` of the next call, undefined after the last batch. Undefined: no such run.
   */
  moveRun(
    move: Omit<ExecutionMove, 'jobExecutionId'> & { runId: number; from: number | undefined; to?: number },
  ): Promise<{ moved: Moved[]; next: number | undefined } | undefined>
  /**
   * Purges some of the runs whose last execution ended before that instant, each as a whole: with its executions,
   * their history and output, the device names of that time, and idempotency keys. Purged runs are unknown from then on;
   * their space is freed in later calls. A run that was launched after a run that is too young stays: its date is wrong.
   * True while there may be more.
   */
  purgeRuns(age: {
    endedBefore: WallInstant
    now: WallInstant
    keysOlderThan: SteadyInstant
  }): Promise<boolean>
  /**
   * Erases a batch of rows that belong to no run: executions of large runs interrupted by a crash, and remains of purged
   * runs. Never touches a run that is being written. True while there may be more.
   */
  eraseLeftovers(): Promise<boolean>
}
