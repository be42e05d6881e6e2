// Turns an error response into an error: RFC 9457 with a Jobcast code, or an unexpected answer.

import type { ErrorCode } from './error-codes.ts'
import { JobcastError, UnexpectedAnswer } from './errors.ts'

export function readError(response: Response, text: string): JobcastError | UnexpectedAnswer {
  const { status, headers } = response
  const retryAfterSeconds = secondsOf(headers.get('retry-after'))
  const problem = parseObject(text)
  if (typeof problem?.code !== 'string') {
    // A browser hides the status of a redirect. None is followed, because that would send the key to its target.
    const what = response.type === 'opaqueredirect' ? 'a redirect' : `${status} without an error code`
    return new UnexpectedAnswer(`${response.url} answered ${what}`, status, retryAfterSeconds)
  }
  return new JobcastError({
    code: problem.code as ErrorCode,
    status,
    message: textOf(problem.title) ?? textOf(problem.message) ?? `error ${problem.code}`,
    detail: textOf(problem.detail),
    field: textOf(problem.field),
    deviceIds: Array.isArray(problem.deviceIds) ? problem.deviceIds.map(String) : undefined,
    requestId: textOf(problem.requestId) ?? headers.get('x-request-id') ?? undefined,
    retryAfterSeconds,
  })
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Seconds or a date; anything else is ignored. */
function secondsOf(header: string | null): number | undefined {
  if (header === null || header === '') return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
