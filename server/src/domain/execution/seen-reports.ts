// The reports that an execution has accepted, so that one that is delivered twice changes nothing, however late.

import { createHash } from 'node:crypto'
import type { DeviceReport } from './device-report.ts'

type Update = Extract<DeviceReport, { kind: 'update' }>

/** How many are remembered besides those that ended an attempt. */
const recent = 8
const endPrefix = '.'

/**
 * Identifies a report that carries a clientToken. The content is part of it: a device that gives all its reports the same
 * token must still come to an end.
 */
export function reportMark(
  report: Omit<Update, 'kind' | 'device' | 'moment' | 'quotas'>,
): string | undefined {
  const { clientToken, status, attempt, expectedVersion, statusDetails, result, stepTimeout } = report
  if (clientToken === undefined) return undefined
  const content = [clientToken, status, attempt, expectedVersion, statusDetails, result, stepTimeout]
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 8)
}

/** `seen`: marks, oldest first, separated by spaces. */
export function hasSeen(seen: string | null, mark: string | undefined): boolean {
  if (seen === null || mark === undefined) return false
  return seen.split(' ').some((each) => each === mark || each === endPrefix + mark)
}

/** The ends of attempts are all kept: there are no more of them than the job allows attempts. */
export function withSeen(seen: string | null, mark: string, endsAttempt: boolean): string {
  const all = seen === null ? [] : seen.split(' ')
  const dropped = all.filter((each) => !each.startsWith(endPrefix)).slice(0, -(recent - 1))
  const kept = all.filter((each) => !dropped.includes(each))
  return [...kept, endsAttempt ? endPrefix + mark : mark].join(' ')
}
