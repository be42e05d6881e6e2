// When a request may be sent once more, and after which time.

import { ConnectionError, JobcastError, UnexpectedAnswer } from './errors.ts'

const firstPauseMs = 200
const longestPauseMs = 10_000
/** A service that asks for more patience than this is asked again all the same. */
const longestRetryAfterMs = 60_000

const passingStatuses = new Set([408, 429, 502, 503, 504])
/** The service says that it has not begun: too much waits, or it stops. */
const untouchedCodes = new Set(['J-908', 'J-910'])
/** By which Node says that there was no connection to send anything on. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** `safe`: the request does no harm when it is served twice. */
export function mayRepeat(error: unknown, safe: boolean): boolean {
  if (isUntouched(error)) return true
  return safe && isPassing(error)
}

/** Whether the same request may fare better later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof UnexpectedAnswer) return passingStatuses.has(error.status)
  // J-502: the twin of this very request is still being served.
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

/** Doubles with each try, less a random part of up to half, so that many callers do not come back at once. */
export function pauseMsBefore(tryNo: number, error: unknown): number {
  const whole = Math.min(longestPauseMs, firstPauseMs * 2 ** (tryNo - 1))
  const asked = retryAfterMs(error)
  return Math.max(whole * (1 - Math.random() / 2), Math.min(asked, longestRetryAfterMs))
}

function retryAfterMs(error: unknown): number {
  if (!(error instanceof JobcastError) && !(error instanceof UnexpectedAnswer)) return 0
  return (error.retryAfterSeconds ?? 0) * 1000
}
