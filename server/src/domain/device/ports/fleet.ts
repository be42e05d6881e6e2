// The part of the store's port for fleet overviews, under the rules of store.ts.

import type { ExecState } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
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

/** Flows of devices that match a selector. `created`: runs that were created, newest first, whose flows are not counted. */
export type FlowsWithin = {
  flows: Flow[]
  created: { runId: number; at: number; total: number }[]
  /** All events after this one were read. */
  downTo: number
  /** When the oldest event that was read happened; undefined: there was none. */
  oldestAt: number | undefined
  events: number
  /** It ended before a run with too many executions. */
  isCut: boolean
}

/** Unfinished executions of some devices. */
export type UnfinishedCount = { waiting: number; running: number; oldestWaitingId: number | undefined }

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
  /**
   * The same for devices that match a selector, from newer to older events: reads a few thousand events between `after` and
   * `before`, and ends before a run with which the created runs would have more than `maxExecutions` executions.
   */
  countFlowsWithin(slice: {
    ownerNo: number
    where: Selector
    jobs?: readonly string[]
    after: number
    before: number
    stepMs: number
    maxExecutions: number
  }): Promise<FlowsWithin>
  /** `jobs`: as in `getFleetLevels`. */
  countUnfinished(of: {
    ownerNo: number
    devices: { deviceNo: number; deviceId: string }[]
    jobs?: readonly string[]
  }): Promise<UnfinishedCount>
}
