// All devices and executions of an owner at a glance, under the rules of store.ts.

import type { ExecState } from '@jobcast/contract'
import type { OwnerList, Sliced } from './slices.ts'

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
  /** Of those that are PENDING the one with the lowest id. */
  oldestWaiting: WaitingExecution | undefined
}

export type StoredFleetDevice = {
  deviceId: string
  online: boolean
  /** The one with the highest id. */
  lastExecution: { jobExecutionId: number; execState: ExecState } | null
}

/** So many executions went from one state into the other; from null: they were created. */
export type Flow = { stepNo: number; from: ExecState | null; to: ExecState; count: number }

export type FleetStore = {
  getFleetLevels(owner: { ownerNo: number }): Promise<FleetLevels>
  /** In the order of their ids. */
  listFleetDevices(list: OwnerList<string>): Promise<Sliced<StoredFleetDevice, string>>
  /**
   * What the events behind `after` say of executions, added up by steps of time (`stepNo` is floor(at / stepMs)), in no
   * order, each (stepNo, from, to) once. Looks at some thousand events at most: all up to `upTo` were looked at, and
   * there may be `more` behind it. A report that leaves the state as it is (`execution.progress`) is no flow.
   */
  countFlows(slice: {
    ownerNo: number
    after: number
    stepMs: number
  }): Promise<{ flows: Flow[]; upTo: number; more: boolean }>
}
