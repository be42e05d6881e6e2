// The error catalogue: every code a caller can meet, with its status and its text.
// docs/errors.md says the same for people; a test holds the two against each other.
// Families: J-0xx devices and enrolments, J-3xx jobs, executions, runs and what
// tells of them, J-5xx content of the request,
// J-8xx keys, scopes, sign-in and owners, J-9xx the service itself.

import Type, { type Static } from 'typebox'

export const errorCatalogue = {
  'J-001': { status: 404, message: 'Device not found' },
  'J-002': { status: 404, message: 'Enrollment not found' },
  'J-301': { status: 404, message: 'Job not found' },
  'J-302': { status: 404, message: 'Execution not found' },
  'J-303': { status: 409, message: 'The state of the execution does not allow this' },
  'J-304': { status: 404, message: 'Run not found' },
  'J-305': { status: 409, message: 'The run has nothing to retry' },
  'J-306': { status: 410, message: 'Events that were asked for are no longer kept' },
  'J-307': { status: 404, message: 'Webhook not found' },
  'J-308': { status: 404, message: 'Delivery not found' },
  'J-500': { status: 400, message: 'Validation error' },
  'J-501': { status: 422, message: 'Idempotency-Key was used with another request' },
  'J-502': { status: 409, message: 'A request with this Idempotency-Key is still running' },
  'J-802': { status: 403, message: 'Invalid API key' },
  'J-803': { status: 403, message: 'API key is expired' },
  'J-804': { status: 403, message: 'API key does not have the required permission' },
  'J-805': { status: 404, message: 'API key not found' },
  'J-806': { status: 404, message: 'Owner not found' },
  'J-807': { status: 409, message: 'Owner name is taken' },
  'J-808': { status: 403, message: 'Invalid or expired sign-in' },
  'J-809': { status: 403, message: 'Request comes from another origin' },
  'J-900': { status: 500, message: 'Internal error' },
  'J-901': { status: 404, message: 'Route not found' },
  'J-902': { status: 405, message: 'Method not allowed' },
  'J-903': { status: 408, message: 'Request took too long to arrive' },
  'J-904': { status: 413, message: 'Request body is too large' },
  'J-905': { status: 415, message: 'Content-Type must be application/json in UTF-8' },
  'J-906': { status: 431, message: 'Request headers are too large' },
  'J-907': { status: 400, message: 'Malformed HTTP request' },
  'J-908': { status: 503, message: 'Too many requests are waiting' },
  'J-909': { status: 503, message: 'Storage is not available' },
  'J-910': { status: 503, message: 'Service is stopping' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** What problem+json adds to the three fields: where in the request the trouble is. */
export type ErrorDetails = {
  /** Completes the message; only J-804 has one, the missing scope. */
  readonly suffix?: string
  /** One sentence for a person. */
  readonly detail?: string
  readonly field?: string
  readonly deviceIds?: readonly string[]
  readonly retryAfterSeconds?: number
}

/** Something a caller can act on. Anything else that is thrown is our fault and answered as J-900. */
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

export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: 'Code from the catalogue, for example J-301' }),
    message: Type.String({ description: 'Text of the error' }),
    status: Type.Integer({ description: 'HTTP status, equal to the status of the response' }),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.Optional(Type.String()),
    code: Type.String(),
    field: Type.Optional(Type.String({ description: 'The field of the request that is wrong' })),
    deviceIds: Type.Optional(
      Type.Array(Type.String(), { description: 'Devices that were not found, at most 100' }),
    ),
    requestId: Type.String(),
  },
  { title: 'Problem', description: 'RFC 9457, for Accept: application/problem+json' },
)
export type ProblemBody = Static<typeof ProblemBody>
