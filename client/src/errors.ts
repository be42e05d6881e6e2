// The errors of a call: refused by the service, a response that is not from the service, no response, or a timeout.

import type { ErrorCode } from './error-codes.ts'
import type { Run } from './schemas.ts'

/** Base class of the errors of this client. An aborted call rejects with the reason of its signal instead. */
export class JobcastClientError extends Error {
  override name = 'JobcastClientError'
}

/** A name of an argument would lead to another route; nothing was sent. */
export class InvalidName extends JobcastClientError {
  override name = 'InvalidName'
}

export type ErrorFields = {
  code: ErrorCode
  status: number
  message: string
  /** One sentence that describes the problem. */
  detail?: string | undefined
  /** The invalid field of the request. */
  field?: string | undefined
  /** Devices that were not found, at most 100. */
  deviceIds?: readonly string[] | undefined
  /** Identifies the request in the log of the service. */
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
}

/** The service refused the request; the code says why. */
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

/** The response is not from Jobcast, but from a proxy or another service at this address. */
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

/** No response, or an incomplete one. `cause` is the error of fetch. */
export class ConnectionError extends JobcastClientError {
  override name = 'ConnectionError'
}

/** The run had not finished within the time limit; it continues. */
export class WaitTimeout extends JobcastClientError {
  override name = 'WaitTimeout'
  /** The run as last read. */
  readonly run: Run | undefined

  constructor(runId: number, timeoutMs: number, run: Run | undefined) {
    super(`run ${runId} had not finished after ${timeoutMs} ms`)
    this.run = run
  }
}

/** Whether it is an error of the service, with one of the codes if any are given. */
export function isJobcastError(error: unknown, ...codes: ErrorCode[]): error is JobcastError {
  return error instanceof JobcastError && (codes.length === 0 || codes.includes(error.code))
}
