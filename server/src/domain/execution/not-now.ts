// "Not now": a device rejects an execution for a while, with `retryAfterSeconds` in the status details. The execution goes
// back to PENDING, uses no attempt, and is offered again after that time; others of the device may run meanwhile.

import type { ReportedStatus } from '@jobcast/contract'

export const longestWaitSeconds = 86_400

type Rejection = { status: ReportedStatus; statusDetails: Record<string, string> | undefined }

/** Milliseconds; undefined: not such a rejection. NaN: not a number within the limits. */
export function waitOf({ status, statusDetails }: Rejection): number | undefined {
  const asked = status === 'REJECTED' ? statusDetails?.retryAfterSeconds : undefined
  if (asked === undefined) return undefined
  const seconds = /^\d{1,5}$/.test(asked) ? Number(asked) : Number.NaN
  return seconds >= 1 && seconds <= longestWaitSeconds ? seconds * 1000 : Number.NaN
}
