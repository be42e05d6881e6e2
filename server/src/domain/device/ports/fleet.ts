// The part of the store's port for fleet overviews, under the rules of store.ts.

import type { ExecState } from '@jobcast/contract'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'

export type WaitingExecution = {
  jobExecutionId: number
  runId: number
  jobName: string
  deviceId: string
  launchedAt: number
}

export type FleetLevels = {
  devices: number
  online: number
  /** Executions that are PENDING. */
  waiting: number
  /** Executions that are IN_PROGRESS or CANCELING. */
  running: number
  /** The PENDING execution with the lowest id. */
  oldestWaiting: WaitingExecution | undefined
}

export type StoredFleetDevice = {
  deviceId: string
  online: boolean
  /** The execution with the highest id. */
  lastExecution: { jobExecutionId: number; execState: ExecState } | null
  /** The ended execution with the highest id. */
  lastEnded: { jobExecutionId: number; execState: ExecState } | null
  /** The IN_PROGRESS or CANCELING execution with the lowest id. */
  running: { jobExecutionId: number; execState: ExecState } | null
  tags: string[]
}

/** How many executions changed from one state to another in a time step; from null: they were created. */
export type Flow = { stepNo: number; from: ExecState | null; to: ExecState; count: number }

/** Totals of all owners. */
export type ServiceLevels = { pending: number; running: number; oldestPendingAt: number | null }

export type FleetStore = {
  readServiceLevels(): Promise<ServiceLevels>
  /** `jobs`: executions only of jobs that match one of these (matchesJob). */
  getFleetLevels(owner: { ownerNo: number; jobs?: readonly string[] }): Promise<FleetLevels>
  /** In the order of their ids. `deviceIds`: only these. */
  listFleetDevices(
    list: OwnerList<string> & { deviceIds?: readonly string[] },
  ): Promise<Sliced<StoredFleetDevice, string>>
  /**
   * Sums up the execution events after `after` by time step (`stepNo` is floor(at / stepMs)), unordered, each (stepNo,
   * from, to) once. Reads a few thousand events at most: all up to `upTo` were read, and there may be `more` after it.
   * A report that does not change the state (`execution.progress`) is not a flow. `jobs`: as in `getFleetLevels`.
   */
  countFlows(slice: {
    ownerNo: number
    jobs?: readonly string[]
    after: number
    stepMs: number
  }): Promise<{ flows: Flow[]; upTo: number; more: boolean }>
}
