// A browser sends the cookie of a session by itself, so what changes something must come from a page of ours.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

const harmless = new Set(['GET', 'HEAD', 'OPTIONS'])

/** For requests that show a session: J-809 unless a page of this very address has sent it. */
export function requireSameOrigin(request: FastifyRequest): void {
  if (!harmless.has(request.method) && originOf(request) !== 'same') throw new ApiError('J-809')
}

/** For requests that show nothing yet: programs, which name no origin, are let through. */
export function refuseOtherOrigin(request: FastifyRequest): void {
  if (originOf(request) === 'other') throw new ApiError('J-809')
}

/** Browsers leave Sec-Fetch-Site out where the page came by plain HTTP; the origin itself is always there. */
function originOf({ headers }: FastifyRequest): 'same' | 'other' | 'unknown' {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (headers.origin === undefined) return 'unknown'
  return URL.parse(headers.origin)?.host === headers.host ? 'same' : 'other'
}
