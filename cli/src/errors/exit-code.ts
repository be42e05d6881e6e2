// Exit codes, so that a script can tell errors apart. docs/cli.md has the same table.

import { ConnectionError, InvalidName, JobcastError, UnexpectedAnswer, WaitTimeout } from '@jobcast/client'
import { MissingKey, NothingFound, UsageError } from './usage-error.ts'

export const exitCode = {
  ok: 0,
  /** Any other error: a bug. */
  unexpected: 1,
  usage: 2,
  key: 3,
  notFound: 4,
  validation: 5,
  /** Some executions ended otherwise than SUCCEEDED, including runs that were denied or aborted. */
  unsuccessful: 6,
  /** `diff`: the server differs from the files. */
  differs: 6,
  timedOut: 7,
  unavailable: 8,
  /** A wait has ended because the run needs approval. */
  needsApproval: 9,
  /** A wait has ended because the run is paused. */
  paused: 10,
  /** By convention of shells: 128 plus the signal number. */
  interrupted: 130,
  terminated: 143,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof InvalidName) return exitCode.usage
  if (error instanceof MissingKey) return exitCode.key
  if (error instanceof NothingFound) return exitCode.notFound
  if (error instanceof WaitTimeout) return exitCode.timedOut
  if (error instanceof ConnectionError) return exitCode.unavailable
  // The response did not come from Jobcast, so its 404 says nothing about a job or a device.
  if (error instanceof UnexpectedAnswer) return isRefusal(error.status) ? exitCode.key : exitCode.unavailable
  if (error instanceof JobcastError) return exitCodeOfAnswer(error)
  return exitCode.unexpected
}

/** Rejected because of the content, the current state, a quota or a version. */
const rejections = new Set([400, 409, 412, 413, 415, 422])

function exitCodeOfAnswer({ code, status }: JobcastError): ExitCode {
  if (isRefusal(status)) return exitCode.key
  // 410: the events are no longer retained.
  if (status === 404 || status === 410) return exitCode.notFound
  // J-502: the same request is still being processed; retrying can succeed.
  if (status === 408 || status === 429 || status >= 500 || code === 'J-502') return exitCode.unavailable
  return rejections.has(status) ? exitCode.validation : exitCode.unexpected
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403
}
