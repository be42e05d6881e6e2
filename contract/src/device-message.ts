// Messages between devices and Jobcast: the AWS IoT Jobs device protocol plus our extensions (cancel, output, `result`).
// Times are whole seconds since 1970, `jobId` is the jobExecutionId in decimal, `thingName` the deviceId and
// `executionNumber` the attempt.

import type { ExecState } from './execution.ts'

/** Every error code a device can receive, with the exception and status used over HTTP. */
export const deviceErrors = {
  InvalidTopic: { status: 404, exception: 'ResourceNotFoundException' },
  InvalidJson: { status: 400, exception: 'InvalidRequestException' },
  InvalidRequest: { status: 400, exception: 'InvalidRequestException' },
  InvalidStateTransition: { status: 409, exception: 'InvalidStateTransitionException' },
  VersionMismatch: { status: 409, exception: 'VersionMismatchException' },
  ResourceNotFound: { status: 404, exception: 'ResourceNotFoundException' },
  TerminalStateReached: { status: 410, exception: 'TerminalStateException' },
  RequestThrottled: { status: 429, exception: 'ThrottlingException' },
  InternalError: { status: 503, exception: 'ServiceUnavailableException' },
} as const satisfies Record<string, { status: number; exception: string }>

export type DeviceErrorCode = keyof typeof deviceErrors

/** PENDING is QUEUED here, CANCELING is IN_PROGRESS, EXPIRED is TIMED_OUT; all others have the same name. */
export type DeviceStatus =
  | 'QUEUED'
  | 'IN_PROGRESS'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'TIMED_OUT'
  | 'REJECTED'
  | 'CANCELED'

export function toDeviceStatus(state: ExecState): DeviceStatus {
  switch (state) {
    case 'PENDING':
      return 'QUEUED'
    case 'CANCELING':
      return 'IN_PROGRESS'
    case 'EXPIRED':
      return 'TIMED_OUT'
    default:
      return state
  }
}

/** What a device may report. CANCELED is our extension: it confirms a cancel, and is accepted only while CANCELING. */
export const reportedStatuses = ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELED'] as const
export type ReportedStatus = (typeof reportedStatuses)[number]

export type JobExecutionSummary = {
  jobId: string
  queuedAt: number
  startedAt?: number
  lastUpdatedAt: number
  versionNumber: number
  executionNumber: number
}

export type JobExecutionState = {
  status: DeviceStatus
  statusDetails: Record<string, string>
  versionNumber: number
}

/** The maximum number of pending executions in one message to a device. */
export const shownPending = 10

/** A bridge to a broker of the user may use another one. */
export const defaultTopicPrefix = '$aws/things'

/** The part of every topic of a device that comes before the operation. */
export function topicPrefix(deviceId: string, prefix = defaultTopicPrefix): string {
  return `${prefix}/${deviceId}/jobs/`
}

/** The only operation on shadows is `update`, with which a device reports its attributes. */
export function shadowPrefix(deviceId: string, prefix = defaultTopicPrefix): string {
  return `${prefix}/${deviceId}/shadow/`
}

export type DeviceOperation =
  | { name: 'attributes' }
  | { name: 'get' }
  | { name: 'start-next' }
  | { name: 'describe'; jobId: string }
  | { name: 'update'; jobId: string }
  | { name: 'output'; jobId: string }

const jobIdPattern = /^(?:[A-Za-z0-9_-]{1,64}|\$next)$/

/** The operation named by the part of a topic after the prefix; undefined if there is none. */
export function parseOperation(suffix: string): DeviceOperation | undefined {
  if (suffix === 'get' || suffix === 'start-next') return { name: suffix }
  // Not String.split, which is slow here: it interns each part, and this runs for every report.
  const slash = suffix.indexOf('/')
  const jobId = suffix.slice(0, Math.max(0, slash))
  if (!jobIdPattern.test(jobId)) return undefined
  const name = suffix.slice(slash + 1)
  switch (name) {
    case 'get':
      return { name: 'describe', jobId }
    case 'update':
    case 'output':
      return jobId === '$next' ? undefined : { name, jobId }
    default:
      return undefined
  }
}
