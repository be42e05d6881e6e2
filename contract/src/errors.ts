// The error catalogue: every code a caller can receive, with its status and message.
// docs/errors.md documents the same codes; a test compares the two.
// Families: J-0xx devices and enrollments, J-3xx jobs, executions, runs, events and webhooks, J-5xx content of the
// request, J-8xx keys, scopes, sign-in and owners, J-9xx the service itself.

import type { RateLimit } from './rate-limit.ts'

export const errorCatalogue = {
  'J-001': { status: 404, message: 'Device not found' },
  'J-002': { status: 404, message: 'Enrollment not found' },
  'J-301': { status: 404, message: 'Job not found' },
  'J-302': { status: 404, message: 'Execution not found' },
  'J-303': { status: 409, message: 'The current state does not allow this' },
  'J-304': { status: 404, message: 'Run not found' },
  'J-305': { status: 409, message: 'The run has no unsuccessful executions to retry' },
  'J-306': { status: 410, message: 'The requested events are no longer retained' },
  'J-307': { status: 404, message: 'Webhook not found' },
  'J-308': { status: 404, message: 'Delivery not found' },
  'J-309': { status: 404, message: 'Group not found' },
  'J-310': { status: 404, message: 'Schedule not found' },
  'J-311': { status: 404, message: 'Window not found' },
  'J-312': { status: 412, message: 'The resource was modified: If-Match or If-None-Match does not match' },
  'J-313': { status: 404, message: 'Version not found' },
  'J-314': { status: 409, message: 'The run has no executions to roll back' },
  'J-315': { status: 409, message: 'The resource is in use' },
  'J-316': { status: 409, message: 'A signed version cannot be restored: its author must sign it again' },
  'J-317': { status: 409, message: 'The run was rolled back before' },
  'J-318': { status: 404, message: 'Secret not found' },
  'J-319': { status: 404, message: 'File not found' },
  'J-320': { status: 409, message: 'The version exists with other content' },
  'J-321': { status: 404, message: 'The audit has no seal yet' },
  'J-322': { status: 403, message: 'The URL of the file is not valid or has expired' },
  'J-323': { status: 409, message: 'The upload continues at another byte' },
  'J-500': { status: 400, message: 'Validation error' },
  'J-501': { status: 422, message: 'Idempotency-Key was already used with a different request' },
  'J-502': { status: 409, message: 'A request with this Idempotency-Key is still in progress' },
  'J-503': { status: 400, message: 'Invalid selector' },
  'J-504': { status: 409, message: 'The selector matches no device' },
  'J-505': { status: 409, message: 'The plan is no longer valid' },
  'J-506': { status: 409, message: 'Devices lack attributes that the document needs' },
  'J-507': { status: 400, message: 'Invalid cron pattern or time zone' },
  'J-508': { status: 422, message: 'The content does not match its digest' },
  'J-509': { status: 416, message: 'The range is outside of the content' },
  'J-802': { status: 403, message: 'Invalid API key' },
  'J-803': { status: 403, message: 'API key is expired' },
  'J-804': { status: 403, message: 'API key does not have the required permission' },
  'J-805': { status: 404, message: 'API key not found' },
  'J-806': { status: 404, message: 'Owner not found' },
  'J-807': { status: 409, message: 'Owner name is already in use' },
  'J-808': { status: 403, message: 'Session or ticket is invalid or has expired' },
  'J-809': { status: 403, message: 'Cross-origin request refused' },
  'J-810': { status: 403, message: 'Whoever created, changed or fired a run cannot approve or deny it' },
  'J-811': { status: 404, message: 'Session not found' },
  'J-812': { status: 409, message: 'The last ADMIN key cannot be revoked' },
  'J-813': { status: 503, message: 'The issuer cannot be reached' },
  'J-814': { status: 403, message: 'A restricted API key cannot be used for this' },
  'J-815': { status: 401, message: 'Sign in at the issuer, or send an API key' },
  'J-900': { status: 500, message: 'Internal error' },
  'J-901': { status: 404, message: 'Route not found' },
  'J-902': { status: 405, message: 'Method not allowed' },
  'J-903': { status: 408, message: 'Request was not received in time' },
  'J-904': { status: 413, message: 'Request body is too large' },
  'J-905': { status: 415, message: 'Unsupported Content-Type' },
  'J-906': { status: 431, message: 'Request headers are too large' },
  'J-907': { status: 400, message: 'Malformed HTTP request' },
  'J-908': { status: 503, message: 'Too many requests in the queue' },
  'J-909': { status: 503, message: 'Storage is not available' },
  'J-910': { status: 503, message: 'Service is stopping' },
  'J-911': { status: 429, message: 'Rate limit exceeded' },
  'J-912': { status: 409, message: 'Quota exceeded' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** Fields that problem+json adds to the three standard fields. */
export type ErrorDetails = {
  /** Appended to the message: for J-503 the position and the reason, J-804 the missing scope, J-905 what is supported, J-909 that the request may have taken effect, or what the bucket for files does, J-912 the quota, J-315 what uses it, J-323 the byte, J-317 the run that did it. */
  readonly suffix?: string
  /** One sentence for a person. */
  readonly detail?: string
  readonly field?: string
  /** The position in the text of the field, counted in characters from 1. */
  readonly position?: number
  readonly deviceIds?: readonly string[]
  readonly retryAfterSeconds?: number
  /** The header WWW-Authenticate, for J-815. */
  readonly challenge?: string
  /** The limit that was exceeded, for J-911. */
  readonly rateLimit?: RateLimit
}

/** An error that the caller can act on. All other exceptions are internal errors and returned as J-900. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const { status, message } = errorCatalogue[code]
    super(details.suffix === undefined ? message : `${message}: ${details.suffix}`)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.details = details
  }
}
