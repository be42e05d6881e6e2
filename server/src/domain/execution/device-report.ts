// Executions as their device sees them, and the device's reports with their outcomes in the store.

import type { ExecState, ReportedStatus } from '@jobcast/contract'
import type { SteadyInstant, WallInstant } from '../common/instants.ts'
import type { DeviceKey } from '../device/device-key.ts'
import type { ReportQuotas } from '../event/progress-events.ts'
import type { Moment, StepTimeout } from './execution.ts'
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
  /** When it times out; null while no clock runs. */
  timesOutAt: SteadyInstant | null
  /** The device has been notified of it. */
  notified: boolean
  runId: number
  jobVersion: number
  priority: number
  /** The trace that its run belongs to. */
  traceParent?: string
}

/** The queued and running executions of a device, in the order in which the device should run them. */
export type DeviceQueue = {
  /** Changes whenever the queue changes; undefined: unknown, always read the queue again. */
  mark: number | undefined
  /** How many there are; `executions` holds the first of them. */
  total: number
  executions: DeviceExecution[]
}

/**
 * A device's request that writes. Reports of one device take effect in the order in which they are sent. `maskedFor`: the
 * run whose secrets are masked in the report (secret/mask-reports.ts).
 */
export type DeviceReport =
  | {
      kind: 'start-next'
      device: DeviceKey
      moment: Moment
      statusDetails: Record<string, string> | undefined
      stepTimeout: StepTimeout
      maskedFor?: number
    }
  | {
      kind: 'update'
      device: DeviceKey
      moment: Moment
      jobExecutionId: number
      status: ReportedStatus
      statusDetails: Record<string, string> | undefined
      /** JSON text. */
      result: string | undefined
      expectedVersion: number | undefined
      attempt: number | undefined
      stepTimeout: StepTimeout
      /** The same report with the same token is a duplicate and changes nothing (seen-reports.ts). */
      clientToken: string | undefined
      quotas: ReportQuotas
      /** Progress is answered without the execution. */
      isBrief?: boolean
      /** The disk has no room for progress, only for state changes. */
      refusesProgress?: boolean
      maskedFor?: number
      /** Held-back output, if the report ends the attempt. */
      tail?: Pick<MaskedOutput, 'attempt' | 'pieces' | 'received' | 'data'>
    }
  | {
      kind: 'output'
      device: DeviceKey
      moment: Moment
      jobExecutionId: number
      attempt: number | undefined
      offset: OutputOffset
      data: Uint8Array
      maxBytes: number
      /** 0: no limit. */
      maxPieces: number
      maskedFor?: number
      /** To be stored instead of `data`. */
      masked?: MaskedOutput
    }

/** `end`: after all stored bytes, for a device that does not count them. */
export type OutputOffset = number | 'end'

/** The next part of an output, with secrets masked (secret/mask-reports.ts). `pieces`: how many the attempt has before it. */
export type MaskedOutput = {
  attempt: number
  pieces: number
  /** How many bytes the device had sent before this part, and including it. */
  from: number
  received: number
  data: Uint8Array
  /** The end of the part, encrypted, if it may be the beginning of a secret. */
  held: string | null
}

/** The position in an output in which secrets are masked. */
export type OutputState = { jobExecutionId: number; attempt: number; received: number; held: string | null }

/** A report as it is judged, with its device resolved to a number. */
export type ReportContent = WithoutDevice<DeviceReport>
type WithoutDevice<Report> = Report extends unknown ? Omit<Report, 'device'> : never

export type ReportOutcome =
  | { kind: 'unknown-device' }
  | { kind: 'unknown-execution' }
  | { kind: 'nothing-pending' }
  /** `moved` is undefined if the state did not change. */
  | { kind: 'done'; execution: DeviceExecution; moved: Moved | undefined }
  /** Progress is stored; the device asked for nothing more. */
  | { kind: 'noted' }
  | { kind: 'wrong-version'; execution: DeviceExecution }
  | { kind: 'wrong-state'; execution: DeviceExecution }
  /** Progress beyond what is stored for one execution. */
  | { kind: 'over-quota'; quota: keyof ReportQuotas }
  | { kind: 'no-space' }
  /** Nothing is stored: the report may contain secrets of this execution, which must be masked first. */
  | { kind: 'needs-mask'; jobExecutionId: number; runId: number; jobVersion: number }
  /** `length` bytes are stored; the next piece should start there. */
  | { kind: 'output-kept'; length: number; cut: boolean; runId: number }
  /** Bytes between the stored ones and these are missing. */
  | { kind: 'output-gap'; length: number }
