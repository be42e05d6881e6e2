// Whether a request may be retried, and after which delay.

import { ConnectionError, JobcastError, UnexpectedAnswer } from './errors.ts'

const firstPauseMs = 200
const longestPauseMs = 10_000
/** Upper limit for Retry-After. */
const longestRetryAfterMs = 60_000

const passingStatuses = new Set([408, 429, 502, 503, 504])
/** The service has not processed the request: it is overloaded or stopping. */
const untouchedCodes = new Set(['J-908', 'J-910'])
/** Node's codes for a connection that was never established. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** `safe`: the request is idempotent. */
export function mayRepeat(error: unknown, safe: boolean): boolean {
  if (isUntouched(error)) return true
  return safe && isTemporary(error)
}

/** Whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof UnexpectedAnswer) return passingStatuses.has(error.status)
  // J-502: an earlier copy of this request is still being served.
  if (error instanceof JobcastError) return passingStatuses.has(error.status) || error.code === 'J-502'
  return false
}

function isUntouched(error: unknown): boolean {
  if (error instanceof JobcastError) return error.status === 429 || untouchedCodes.has(error.code)
  return error instanceof ConnectionError && unsentCodes.has(causeCode(error.cause))
}

function causeCode(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  return typeof inner === 'object' && inner !== null && 'code' in inner ? String(inner.code) : ''
}

/** Exponential backoff; up to half is subtracted as jitter. */
export function pauseMsBefore(tryNo: number, error: unknown): number {
  const delayMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (tryNo - 1))
  const asked = retryAfterMs(error)
  return Math.max(delayMs * (1 - Math.random() / 2), Math.min(asked, longestRetryAfterMs))
}

function retryAfterMs(error: unknown): number {
  if (!(error instanceof JobcastError) && !(error instanceof UnexpectedAnswer)) return 0
  return (error.retryAfterSeconds ?? 0) * 1000
}
