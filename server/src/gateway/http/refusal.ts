// Refusals of the HTTP gateway itself, outside the device protocol. The names are those an AWS client expects.

import type { RateLimit } from '@jobcast/contract'
import { rateLimitHeaders } from '../../limits/rate-limit-headers.ts'

export class Refusal extends Error {
  readonly status: number
  /** The name of the exception, for the header x-amzn-errortype. */
  readonly exception: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, exception: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.exception = exception
    this.headers = headers
  }
}

/** The same answer for a token that is missing, malformed, unknown, replaced or revoked, and for any certificate. */
export function unauthorized(): Refusal {
  return new Refusal(401, 'UnauthorizedException', 'Invalid device token.', {
    'www-authenticate': 'Bearer',
  })
}

/** The same answer whether or not the device exists. */
export function forbidden(credential: 'token' | 'certificate'): Refusal {
  return new Refusal(403, 'ForbiddenException', `The ${credential} belongs to another device.`)
}

/** Enrollment never takes over a device. */
export function conflict(): Refusal {
  return new Refusal(
    409,
    'ConflictException',
    'The device already has a credential, or its owner has revoked it.',
  )
}

export function methodNotAllowed(allowed: string[]): Refusal {
  return new Refusal(405, 'MethodNotAllowedException', 'Method not allowed.', {
    allow: allowed.toSorted().join(', '),
  })
}

export function tooManyRequests(exceeded: RateLimit): Refusal {
  return new Refusal(429, 'ThrottlingException', 'Rate limit exceeded.', rateLimitHeaders(exceeded))
}

export function wrongEncoding(): Refusal {
  return new Refusal(415, 'UnsupportedMediaTypeException', 'The body must have no Content-Encoding.')
}

export function badQuery(message: string): Refusal {
  return new Refusal(400, 'InvalidRequestException', message)
}
