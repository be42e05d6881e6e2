// The part of the store's port for devices that were given the job of a schedule with match, under the rules of store.ts.

import type { SteadyInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'

/** A device that was given the job of a schedule with match. What is null was not known to an earlier version. */
export type GivenDevice = {
  deviceNo: number
  /** The last one. */
  jobExecutionId: number | null
  /** `versionNo` of the job's version that it is of. */
  jobVersion: number | null
  /** How often in a row, since it started to match. */
  times: number | null
  /** When the end of the last one was noticed. */
  endedAt: SteadyInstant | null
  /** From when on it gets another one. */
  againAt: SteadyInstant | null
}

export type GivenDeviceStore = {
  /** Of these devices, those that were given the schedule's job. */
  listGivenDevices(devices: { scheduleNo: number; deviceNos: number[] }): Promise<number[]>
  /** The same, with what is known of them. */
  listGiven(devices: { scheduleNo: number; deviceNos: number[] }): Promise<GivenDevice[]>
  /** All of them, in the order of their numbers. */
  listAllGiven(devices: { scheduleNo: number; after: number; limit: number }): Promise<GivenDevice[]>
  /** Of each of these schedules: when the first device gets another one. */
  listFirstAgain(schedules: { scheduleNos: number[] }): Promise<
    {
      scheduleNo: number
      againAt: SteadyInstant | null
    }[]
  >
  /** Some that get another one by then. */
  listDueAgain(due: { scheduleNo: number; by: SteadyInstant; limit: number }): Promise<number[]>
  /** Those of these executions that have not ended. */
  listUnended(executions: { jobExecutionIds: number[] }): Promise<number[]>
  /** These executions, of one schedule, have ended; idempotent. */
  recordEnded(ended: {
    scheduleNo: number
    deviceNos: number[]
    jobExecutionIds: number[]
    at: SteadyInstant
    againAt: SteadyInstant | null
  }): Promise<void>
  /** They no longer match: their back-off begins anew, and is over at `againAt` at the latest. */
  recordLeft(left: { scheduleNo: number; deviceNos: number[]; againAt: SteadyInstant }): Promise<void>
  /** Those of them that would get another one by then are as if they had never been given it. */
  dropGiven(dropped: { scheduleNo: number; deviceNos: number[]; by: SteadyInstant }): Promise<void>
  /** Cancels those of them that wait: their devices no longer match. */
  cancelLeft(executions: { jobExecutionIds: number[]; moment: Moment; actor: string }): Promise<Moved[]>
  /** Notes those of some executions; idempotent. */
  recordGiven(given: { scheduleNo: number; first: number; last: number }): Promise<void>
}
