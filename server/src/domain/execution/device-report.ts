// Executions as their device sees them, and the device's reports as the store takes and answers them.

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
  /** The device was notified of it before. */
  notified: boolean
  runId: number
  jobVersion: number
  priority: number
  /** Of the trace that its run belongs to. */
  traceParent?: string
}

/** The queued and running executions of a device, in the order in which they are to be carried out. */
export type DeviceQueue = {
  /** Changes whenever the queue changes; undefined: unknown, always read the queue again. */
  mark: number | undefined
  /** How many there are; `executions` holds the first of them. */
  total: number
  executions: DeviceExecution[]
}

/**
 * A device's request that writes. The reports of one device take effect in the order in which they are sent. `maskedFor`:
 * the secrets of this run are masked in it (secret/mask-reports.ts).
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
      /** The same report with the same token is a repetition, and changes nothing (seen-reports.ts). */
      clientToken: string | undefined
      quotas: ReportQuotas
      /** Of progress the answer is only that it is stored. */
      isBrief?: boolean
      /** There is no space for progress, only for a change of the state. */
      refusesProgress?: boolean
      maskedFor?: number
      /** What was held back of the output, if the report ends the attempt. */
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

/** `end`: behind all that is stored, from a device that does not count its bytes. */
export type OutputOffset = number | 'end'

/** The next part of an output without secrets (secret/mask-reports.ts), for an attempt that has so many pieces before. */
export type MaskedOutput = {
  attempt: number
  pieces: number
  /** How many bytes its device had sent before, and with this part. */
  from: number
  received: number
  data: Uint8Array
  /** The end that may be the beginning of a secret, encrypted. */
  held: string | null
}

/** Where the output of an attempt is that has secrets. */
export type OutputState = { jobExecutionId: number; attempt: number; received: number; held: string | null }

/** A report as it is judged: by then its device is a number. */
export type ReportContent = WithoutDevice<DeviceReport>
type WithoutDevice<Report> = Report extends unknown ? Omit<Report, 'device'> : never

export type ReportOutcome =
  | { kind: 'unknown-device' }
  | { kind: 'unknown-execution' }
  | { kind: 'nothing-pending' }
  /** `moved` is undefined if the state did not change. */
  | { kind: 'done'; execution: DeviceExecution; moved: Moved | undefined }
  /** Progress is stored; whoever reported it wants to know no more. */
  | { kind: 'noted' }
  | { kind: 'wrong-version'; execution: DeviceExecution }
  | { kind: 'wrong-state'; execution: DeviceExecution }
  /** Progress beyond what is stored for one execution. */
  | { kind: 'over-quota'; quota: keyof ReportQuotas }
  | { kind: 'no-space' }
  /** Nothing is stored: this execution may have secrets, which have to be masked first. */
  | { kind: 'needs-mask'; jobExecutionId: number; runId: number; jobVersion: number }
  /** `length` bytes are stored; the next piece should start there. */
  | { kind: 'output-kept'; length: number; cut: boolean; runId: number }
  /** Bytes between the stored ones and these are missing. */
  | { kind: 'output-gap'; length: number }
