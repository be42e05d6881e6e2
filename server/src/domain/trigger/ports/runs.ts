import type { ExecState, RolloutState } from '@jobcast/contract'
import type { ParameterValues } from '@jobcast/contract/parameters'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'
import type { ExecutionMove, Moved } from '../../execution/ports/executions.ts'

export type RunKey = { ownerNo: number; runId: number }

export type StoredRun = {
  runId: number
  jobName: string
  /** Names the version of the job it carries out, for `getDocument`. */
  jobVersion: number
  /** The number of that version among those of its job. */
  version: number
  /** Secrets are masked. */
  parameters: ParameterValues
  launchedAt: number
  /** When its last execution ended; null while it has not finished. */
  endedAt: number | null
  /** The key that made it, and what it is called; null if the run is older than this record. */
  keyId: string | null
  keyName: string | null
  total: number
  counts: Record<ExecState, number>
  /** The run whose failures it tries again. */
  retryOf: number | null
  /** The window in which its executions are offered; null: it has none. */
  window: string | null
  /** No window holds it back, neither that of its job nor those of devices and groups. */
  ignoresWindows?: true
  /** Of its executions. */
  priority: number
  /** It replaces, or has replaced, what waits of its job on its devices. */
  replaces: boolean
} & Omit<RunRequest, 'rollbackOnce' | 'planId' | 'plannedBy' | 'replaces'> &
  RunSchedule

/** Secrets are masked in `parameters`, and encrypted in `secrets`. */
export type RunValues = { parameters: ParameterValues; secrets: string | null }

/** What a run was asked for with, besides its job and its devices. */
export type RunRequest = {
  /** The selector as it was asked for; null for a list of devices. */
  where: string | null
  /** How many devices it matched. */
  matched: number | null
  note: string | null
  /** The run that it takes back. */
  rollbackOf: number | null
  /** The same run, if none has taken it back before: the store takes only one such run. */
  rollbackOnce?: number
  /** The plan that it was started from, and the principal that has planned it: the store takes only one run of a plan. */
  planId?: string
  plannedBy?: string
  /** 1: it has yet to replace what waits of its job on its devices. */
  replaces?: 1
} & Partial<RunSchedule>

/** The schedule that made it, and its occurrence; null: somebody did. */
export type RunSchedule = {
  scheduleNo: number | null
  scheduleName: string | null
  scheduledFor: WallInstant | null
}

/** Which executions are meant: those that can be retried, or all that were released, however they ended or go on. */
export type RunEnds = 'unsuccessful' | 'released'

/** Instants: from `…After` on, up to but not including `…Before`. */
export type RunFilter = {
  jobName?: string
  /** Of jobs that match one of these (matchesJob). */
  jobs?: readonly string[]
  /** Of the job; only together with `jobName`. */
  version?: number
  finished?: boolean
  rolloutState?: RolloutState
  scheduleName?: string
  /** It has at least one execution in one of these. */
  execStates?: readonly ExecState[]
  launchedAfter?: number
  launchedBefore?: number
  finishedAfter?: number
  finishedBefore?: number
}

type SealedSecrets = { runId: number; ownerNo: number; secrets: string }

export type RunStore = {
  /** Some of those that have yet to replace what waits of their job on their devices. */
  listReplacing(): Promise<{ runId: number; keyId: string }[]>
  /** The unfinished runs of the same job that were made before this one. */
  listReplaced(run: { runId: number }): Promise<{ runId: number; first: number; last: number }[]>
  setReplaced(run: { runId: number }): Promise<void>
  getRun(run: RunKey): Promise<StoredRun | undefined>
  /** Newest first. A slice may be short, even empty, before the end. */
  listRuns(list: OwnerList<number> & { filter: RunFilter }): Promise<Sliced<StoredRun, number>>
  /** The run belongs to this trace from now on. */
  setRunTrace(run: RunKey & { traceParent: string }): Promise<void>
  /** Those devices of the run, unless they are gone, whose execution has ended so; undefined: no such run. */
  listEndedDevices(run: RunKey & { ends: RunEnds }): Promise<string[] | undefined>
  /** The first run that has taken this one back; undefined: none has. */
  findRollback(run: RunKey): Promise<number | undefined>
  /** One of the latest runs of this version, made before that run, was released as a whole: nothing holds it back any more. */
  wasReleased(version: { jobNo: number; versionNo: number; before: number }): Promise<boolean>
  /** The values of a run's parameters; undefined: it has none. */
  getRunValues(run: { runId: number }): Promise<RunValues | undefined>
  /** Runs whose parameters have secrets, in the order of their ids. */
  listSealed(page: { after: number; limit: number }): Promise<SealedSecrets[]>
  /** Each only if it is still as it was. */
  replaceSealed(change: { sealed: { runId: number; before: string; secrets: string }[] }): Promise<void>
  /**
   * Moves some executions of the run whose state allows it, in the order of their ids; `next` is where to go on
   * (`from` of the next call), undefined when all were looked at. Undefined: no such run.
   */
  moveRun(
    move: Omit<ExecutionMove, 'jobExecutionId'> & { runId: number; from: number | undefined },
  ): Promise<{ moved: Moved[]; next: number | undefined } | undefined>
  /**
   * Purges some of the runs whose last execution ended before that instant, each as a whole: with its executions,
   * their history and output, the names devices had then, and answers kept for a repeated call. What is purged is
   * unknown from then on; its space is freed in later calls. A run that was launched after one which is not that old stays:
   * its date is wrong. True while there may be more.
   */
  purgeRuns(age: {
    endedBefore: WallInstant
    now: WallInstant
    keysOlderThan: SteadyInstant
  }): Promise<boolean>
  /**
   * Erases some of what belongs to no run: executions of large runs that a crash kept from being made, and what is left of
   * purged ones. Never of a run that is being written. True while there may be more.
   */
  eraseLeftovers(): Promise<boolean>
}
