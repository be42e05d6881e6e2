// RateLimit header fields for HTTP, an IETF draft (draft-ietf-httpapi-ratelimit-headers).

import type { RateLimit } from '@jobcast/contract'

export function rateLimitHeaders({ name, quota, windowSeconds, retryAfterSeconds }: RateLimit) {
  return {
    'retry-after': String(retryAfterSeconds),
    'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
    ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
  }
}
