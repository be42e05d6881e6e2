// Rate limits in errors and in their headers.

export const limitNames = ['address', 'sign-in', 'key', 'owner', 'device', 'session'] as const
export type LimitName = (typeof limitNames)[number]

/** A limit that was exceeded. */
export type RateLimit = {
  name: LimitName
  /** Requests in one window. */
  quota: number
  windowSeconds: number
  retryAfterSeconds: number
}
