// The reports that an execution has accepted, so that a duplicate changes nothing, however late it arrives.

import { createHash } from 'node:crypto'
import type { DeviceReport } from './device-report.ts'

type Update = Extract<DeviceReport, { kind: 'update' }>

/** How many are stored besides those that ended an attempt. */
const recent = 8
const endPrefix = '.'

/**
 * Identifies a report that carries a clientToken. The content is part of the mark, so that a device that uses one token for
 * all reports can still finish its execution.
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

/** All ends of attempts are kept: their number is limited by the job's attempts. */
export function withSeen(seen: string | null, mark: string, endsAttempt: boolean): string {
  const all = seen === null ? [] : seen.split(' ')
  const dropped = all.filter((each) => !each.startsWith(endPrefix)).slice(0, -(recent - 1))
  const kept = all.filter((each) => !dropped.includes(each))
  return [...kept, endsAttempt ? endPrefix + mark : mark].join(' ')
}
