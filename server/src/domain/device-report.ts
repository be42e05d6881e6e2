// What a device sees of its executions, and what it tells of them, as it goes to the store and comes back.

import type { ExecState, ReportedStatus } from '@jobcast/contract'
import type { Moment, StepTimeout } from './execution.ts'
import type { SteadyInstant, WallInstant } from './instants.ts'
import type { DeviceKey } from './ports/devices.ts'
import type { Moved } from './ports/executions.ts'

/** An execution as its device sees it. */
export type DeviceExecution = {
  jobExecutionId: number
  execState: ExecState
  attempt: number
  versionNumber: number
  statusDetails: Record<string, string>
  launchedAt: WallInstant
  startedAt: WallInstant | null
  updatedAt: WallInstant
  /** When it is ended if the device does nothing; null while no such clock runs. */
  timesOutAt: SteadyInstant | null
  /** It was handed to a connection of the device before. */
  notified: boolean
  jobVersion: number
}

/** What waits for a device or is under way on it, in the order in which it is to be carried out. */
export type DeviceQueue = {
  /** Another one whenever the queue has changed; undefined: always read it again. */
  mark: number | undefined
  /** How many there are; `executions` holds the first of them. */
  total: number
  executions: DeviceExecution[]
}

/** What a device tells or asks that is written. All of one device take effect in the order in which they are sent. */
export type DeviceReport =
  | {
      kind: 'start-next'
      device: DeviceKey
      moment: Moment
      statusDetails: Record<string, string> | undefined
      stepTimeout: StepTimeout
    }
  | {
      kind: 'update'
      device: DeviceKey
      moment: Moment
      jobExecutionId: number
      status: ReportedStatus
      statusDetails: Record<string, string> | undefined
      /** JSON text of what the device gives back. */
      result: string | undefined
      expectedVersion: number | undefined
      attempt: number | undefined
      stepTimeout: StepTimeout
      /** The same one twice in a row is the same report, sent twice. */
      clientToken: string | undefined
    }
  | {
      kind: 'output'
      device: DeviceKey
      moment: Moment
      jobExecutionId: number
      attempt: number | undefined
      offset: number
      data: Uint8Array
      maxBytes: number
    }

export type ReportOutcome =
  | { kind: 'unknown-device' }
  | { kind: 'unknown-execution' }
  | { kind: 'nothing-pending' }
  /** `moved` is undefined when the state stayed. */
  | { kind: 'done'; execution: DeviceExecution; moved: Moved | undefined }
  | { kind: 'wrong-version'; execution: DeviceExecution }
  | { kind: 'wrong-state'; execution: DeviceExecution }
  /** Each byte once: `length` bytes are kept by now, and from there on more is welcome. */
  | { kind: 'output-kept'; length: number; cut: boolean; runId: number }
  /** Something between the kept bytes and these is missing. */
  | { kind: 'output-gap'; length: number }

export type OutputSlice = {
  data: Uint8Array
  /** How many bytes are kept in all. */
  length: number
  cut: boolean
  runId: number
  ended: boolean
}
