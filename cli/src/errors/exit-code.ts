// What the program ends with, so that a script can tell one failure from another. docs/cli.md has the same table.

import { ConnectionError, JobcastError, UnexpectedAnswer, WaitTimeout } from '@jobcast/client'
import { MissingKey, NothingFound, UsageError } from './usage-error.ts'

export const exitCode = {
  ok: 0,
  /** None of the others: a fault of ours. */
  unexpected: 1,
  usage: 2,
  key: 3,
  notFound: 4,
  validation: 5,
  /** Some executions ended otherwise than SUCCEEDED. */
  notSucceeded: 6,
  /** Of `diff`: the server is not what the files say. */
  differs: 6,
  waitRanOut: 7,
  unavailable: 8,
  /** As shells have it: 128 and the number of the signal. */
  interrupted: 130,
  terminated: 143,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCode.usage
  if (error instanceof MissingKey) return exitCode.key
  if (error instanceof NothingFound) return exitCode.notFound
  if (error instanceof WaitTimeout) return exitCode.waitRanOut
  if (error instanceof ConnectionError) return exitCode.unavailable
  // Whatever answered, it was not Jobcast: a 404 of it says nothing about a job or a device.
  if (error instanceof UnexpectedAnswer) return isRefusal(error.status) ? exitCode.key : exitCode.unavailable
  if (error instanceof JobcastError) return exitCodeOfAnswer(error)
  return exitCode.unexpected
}

const refusedContent = new Set(['J-303', 'J-305', 'J-500', 'J-807'])

function exitCodeOfAnswer({ code, status }: JobcastError): ExitCode {
  if (isRefusal(status)) return exitCode.key
  // 410: events that are no longer kept.
  if (status === 404 || status === 410) return exitCode.notFound
  if (refusedContent.has(code) || [413, 415, 422].includes(status)) return exitCode.validation
  // J-502: the twin of the request is still being served, so it may pass.
  if (status === 408 || status === 429 || status >= 500 || code === 'J-502') return exitCode.unavailable
  return exitCode.unexpected
}

function isRefusal(status: number): boolean {
  return status === 401 || status === 403
}
