import type { AttributeValue, ExecState } from '@jobcast/contract'
import type { ExecutionEvent } from '../../execution/execution.ts'
import type { RunKey } from './runs.ts'

/** Unsuccessful executions that ended by the same event, with the same reason (its first characters). */
export type FailureGroup = {
  execState: ExecState
  /** Null if its history is not there. */
  event: ExecutionEvent | null
  reason: string | null
  count: number
  /** Ids of some of their devices; at least of one. */
  sample: string[]
}

type StoredFailures = {
  /** All of them; more than the groups have together if there are more groups. */
  total: number
  /** Most frequent first. */
  groups: FailureGroup[]
  succeeded: number
}

/** `isTag`: `name` is empty. `isHidden`: reported, but the owner has set another value. */
export type SharedValue = {
  isTag: boolean
  isHidden: boolean
  name: string
  value: AttributeValue
  failed: number
  ofFailed: number
  succeeded: number
  ofSucceeded: number
}

export type RunFailureStore = {
  /**
   * Executions of the run that ended otherwise than SUCCEEDED, unless they were canceled before they were sent. Of the
   * first `sampled` groups there is a sample, of the others one device. Undefined: no such run.
   */
  countFailures(run: RunKey & { groups: number; sampled: number }): Promise<StoredFailures | undefined>
  /**
   * Values that the devices of these executions have more often than those of successful ones, the largest difference in
   * shares first; only what `least` of them have, and more often by so many percent of all. About `failed` and `succeeded` parts of a million of the executions are
   * looked at.
   */
  listSharedValues(
    run: RunKey & { failed: number; succeeded: number; least: number; percent: number; limit: number },
  ): Promise<SharedValue[]>
}
