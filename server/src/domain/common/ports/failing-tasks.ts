// The part of the store's port for what the service does by itself and cannot write, under the rules of store.ts.

import type { WallInstant } from '../instants.ts'

export type FailingKind = 'rollout' | 'schedule' | 'timers'

/** `taskNo`: the run of a rollout, the number of a schedule, 0 of timers. */
export type TaskKey = { kind: FailingKind; taskNo: number }

export type Failing = {
  /** When it failed first. */
  since: WallInstant
  /** How many tries in a row have failed. */
  times: number
  /** Why, in words that the owner may read. */
  message: string
}

export type FailingTaskStore = {
  /** `lastAt`: the last try. */
  recordFailing(task: TaskKey & Failing & { lastAt: WallInstant }): Promise<void>
  clearFailing(task: TaskKey): Promise<void>
  /** Those of these tasks that have failed since then. */
  listFailing(tasks: {
    kind: FailingKind
    taskNos: number[]
    after: WallInstant
  }): Promise<(Failing & { taskNo: number })[]>
}
