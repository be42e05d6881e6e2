import type { AttributeValue, ExecState } from '@jobcast/contract'
import type { ExecutionEvent } from '../../execution/execution.ts'
import type { RunKey } from './runs.ts'

/** Unsuccessful executions with the same event and the same (start of the) reason. */
export type FailureGroup = {
  execState: ExecState
  /** Null if the history is missing. */
  event: ExecutionEvent | null
  reason: string | null
  count: number
  /** Ids of some of the devices, at least one. */
  sample: string[]
}

type StoredFailures = {
  /** All unsuccessful executions, also those in groups that are not listed. */
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
   * Groups executions of the run that ended otherwise than SUCCEEDED, except those canceled before they were sent. The first
   * `sampled` groups have a sample of devices, the others one device. Undefined: no such run.
   */
  countFailures(run: RunKey & { groups: number; sampled: number }): Promise<StoredFailures | undefined>
  /**
   * Values that devices of unsuccessful executions have more often than those of successful ones, largest difference first.
   * A value counts if at least `least` of them have it and the shares differ by `percent`. `failed` and `succeeded` are the
   * sampled parts of the executions, in millionths.
   */
  listSharedValues(
    run: RunKey & { failed: number; succeeded: number; least: number; percent: number; limit: number },
  ): Promise<SharedValue[]>
}
