// How an attempt ended, as reported to the server.

import { type Details, details } from './status-details.ts'

export type Outcome = {
  status: 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'CANCELED'
  statusDetails: Details
  result?: unknown
}

/** The retry delay in seconds of an attempt that could not run now; undefined: it has ended. */
export function waitOf({ status, statusDetails }: Outcome): number | undefined {
  const seconds = status === 'REJECTED' ? Number(statusDetails.retryAfterSeconds) : Number.NaN
  return Number.isSafeInteger(seconds) ? seconds : undefined
}

export function refusal(reason: string): Outcome {
  return { status: 'REJECTED', statusDetails: details({ reason }) }
}

export function failure(reason: string, more: Record<string, string | number | undefined> = {}): Outcome {
  return { status: 'FAILED', statusDetails: details({ reason, ...more }) }
}
