// How an attempt ended, as reported to the server.

import { type Details, details } from './status-details.ts'

export type Outcome = {
  status: 'SUCCEEDED' | 'FAILED' | 'REJECTED' | 'CANCELED'
  statusDetails: Details
  result?: unknown
}

export function refusal(reason: string): Outcome {
  return { status: 'REJECTED', statusDetails: details({ reason }) }
}

export function failure(reason: string, more: Record<string, string | number | undefined> = {}): Outcome {
  return { status: 'FAILED', statusDetails: details({ reason, ...more }) }
}
