// The part of the store's port for background tasks whose writes fail, under the rules of store.ts.

import type { WallInstant } from '../instants.ts'

export type FailingKind = 'rollout' | 'schedule' | 'timers'

/** `taskNo`: the run of a rollout, the number of a schedule, 0 for timers. */
export type TaskKey = { kind: FailingKind; taskNo: number }

export type Failing = {
  /** The time of the first failure. */
  since: WallInstant
  /** The number of consecutive failures. */
  times: number
  /** The reason, without details that the owner must not see. */
  message: string
}

export type FailingTaskStore = {
  /** `lastAt`: the time of the last try. */
  recordFailing(task: TaskKey & Failing & { lastAt: WallInstant }): Promise<void>
  clearFailing(task: TaskKey): Promise<void>
  /** Lists the given tasks that have failed since then. */
  listFailing(tasks: {
    kind: FailingKind
    taskNos: number[]
    after: WallInstant
  }): Promise<(Failing & { taskNo: number })[]>
}
