// Browsers send the session cookie automatically, so requests that change something must come from our own pages.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** For requests with a session: J-809 unless they come from the same origin. */
export function requireSameOrigin(request: FastifyRequest): void {
  if (!safeMethods.has(request.method) && originOf(request) !== 'same') throw new ApiError('J-809')
}

/** For requests without a session: programs, which send no origin, are accepted. */
export function refuseOtherOrigin(request: FastifyRequest): void {
  if (originOf(request) === 'other') throw new ApiError('J-809')
}

/** Browsers omit Sec-Fetch-Site on pages loaded over plain HTTP; Origin is always sent. */
function originOf({ headers }: FastifyRequest): 'same' | 'other' | 'unknown' {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (headers.origin === undefined) return 'unknown'
  return URL.parse(headers.origin)?.host === headers.host ? 'same' : 'other'
}
