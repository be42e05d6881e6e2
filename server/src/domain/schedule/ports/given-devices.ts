// The part of the store's port for devices that were given the job of a schedule with `match`, under the rules of store.ts.

import type { SteadyInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'

/** A device that was given the job of a schedule with `match`. Null: not recorded by an earlier version. */
export type GivenDevice = {
  deviceNo: number
  /** The last execution. */
  jobExecutionId: number | null
  /** `versionNo` of that execution's job version. */
  jobVersion: number | null
  /** How often in a row, since it started to match. */
  times: number | null
  /** When the end of the last execution was recorded. */
  endedAt: SteadyInstant | null
  /** From when on it gets the job again. */
  againAt: SteadyInstant | null
}

export type GivenDeviceStore = {
  /** Those of the devices that were given the schedule's job. */
  listGivenDevices(devices: { scheduleNo: number; deviceNos: number[] }): Promise<number[]>
  /** The same, with their records. */
  listGiven(devices: { scheduleNo: number; deviceNos: number[] }): Promise<GivenDevice[]>
  /** All devices that were given the job, in the order of their numbers. */
  listAllGiven(devices: { scheduleNo: number; after: number; limit: number }): Promise<GivenDevice[]>
  /** For each schedule: when the first device gets the job again. */
  listFirstAgain(schedules: { scheduleNos: number[] }): Promise<
    {
      scheduleNo: number
      againAt: SteadyInstant | null
    }[]
  >
  /** A batch of the devices that get the job again by then. */
  listDueAgain(due: { scheduleNo: number; by: SteadyInstant; limit: number }): Promise<number[]>
  /** Those of the executions that have not ended. */
  listUnended(executions: { jobExecutionIds: number[] }): Promise<number[]>
  /** Records that these executions of one schedule have ended; idempotent. */
  recordEnded(ended: {
    scheduleNo: number
    deviceNos: number[]
    jobExecutionIds: number[]
    at: SteadyInstant
    againAt: SteadyInstant | null
  }): Promise<void>
  /** Records devices that no longer match: their back-off starts over, and ends at `againAt` at the latest. */
  recordLeft(left: { scheduleNo: number; deviceNos: number[]; againAt: SteadyInstant }): Promise<void>
  /** Deletes the records of those that would get the job again by then, as if it was never given. */
  dropGiven(dropped: { scheduleNo: number; deviceNos: number[]; by: SteadyInstant }): Promise<void>
  /** Cancels those that are PENDING, because their devices no longer match. */
  cancelLeft(executions: { jobExecutionIds: number[]; moment: Moment; actor: string }): Promise<Moved[]>
  /** Records the devices of these executions; idempotent. */
  recordGiven(given: { scheduleNo: number; first: number; last: number }): Promise<void>
}
