// What a call can end with: an error the service names, an answer that is not the service's, no answer, too long a wait.

import type { ErrorCode } from './error-codes.ts'
import type { Run } from './schemas.ts'

/** Of everything this client throws itself. A call that is aborted rejects with the reason of its signal instead. */
export class JobcastClientError extends Error {
  override name = 'JobcastClientError'
}

export type ErrorFields = {
  code: ErrorCode
  status: number
  message: string
  /** One sentence on what exactly is wrong. */
  detail?: string | undefined
  /** The field of the request that is wrong. */
  field?: string | undefined
  /** Devices that were not found, at most 100. */
  deviceIds?: readonly string[] | undefined
  /** By which the log of the service knows the request. */
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
}

/** The service refused, and says why by a code. */
export class JobcastError extends JobcastClientError {
  override name = 'JobcastError'
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string | undefined
  readonly field: string | undefined
  readonly deviceIds: readonly string[] | undefined
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(fields: ErrorFields) {
    super(fields.message)
    this.code = fields.code
    this.status = fields.status
    this.detail = fields.detail
    this.field = fields.field
    this.deviceIds = fields.deviceIds
    this.requestId = fields.requestId
    this.retryAfterSeconds = fields.retryAfterSeconds
  }
}

/** Something answered, but not as Jobcast does: a proxy on the way, or another service at this address. */
export class UnexpectedAnswer extends JobcastClientError {
  override name = 'UnexpectedAnswer'
  readonly status: number
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, status: number, retryAfterSeconds?: number) {
    super(message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No answer, or only a part of one. `cause` is what fetch said. */
export class ConnectionError extends JobcastClientError {
  override name = 'ConnectionError'
}

/** The run had not finished when the time was over; it goes on. */
export class WaitTimeout extends JobcastClientError {
  override name = 'WaitTimeout'
  /** As it was seen last. */
  readonly run: Run | undefined

  constructor(runId: number, timeoutMs: number, run: Run | undefined) {
    super(`run ${runId} had not finished after ${timeoutMs} ms`)
    this.run = run
  }
}

/** Whether it is an error that the service named, by one of the codes if any are given. */
export function isJobcastError(error: unknown, ...codes: ErrorCode[]): error is JobcastError {
  return error instanceof JobcastError && (codes.length === 0 || codes.includes(error.code))
}
