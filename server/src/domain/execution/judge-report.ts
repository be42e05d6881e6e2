// Whether a device's report is accepted; called by every store inside its transaction.

import type { ReportedStatus } from '@jobcast/contract'
import type { SteadyInstant } from '../common/instants.ts'
import { type ExecutionEvent, eventOf, isTerminal, type Life, nextState, waitsForRetry } from './execution.ts'
import { hasSeen } from './seen-reports.ts'

export type Judged = {
  life: Life
  versionNumber: number
  /** Marks of accepted reports (seen-reports.ts). */
  seenReports: string | null
  /** The version created by the owner's cancel request, while that is the latest change. */
  cancelVersion: number | null
}

export type Judgement =
  | { kind: 'event'; event: ExecutionEvent }
  /** A report that was accepted before: it changes nothing and is accepted again. */
  | { kind: 'double' }
  | { kind: 'unknown-execution' }
  | { kind: 'wrong-state' }
  | { kind: 'wrong-version' }

export function judgeReport(
  judged: Judged,
  report: {
    status: ReportedStatus
    attempt: number | undefined
    expectedVersion: number | undefined
    /** What identifies the report, if it can be identified (seen-reports.ts). */
    mark: string | undefined
    /** A rejection for a while (not-now.ts). */
    isNotNow?: boolean
  },
  clock: SteadyInstant,
): Judgement {
  const { life } = judged
  if (hasSeen(judged.seenReports, report.mark)) return { kind: 'double' }
  // A late report of an earlier attempt must not end the next one.
  if (report.attempt !== undefined && report.attempt !== life.attempt) return { kind: 'unknown-execution' }
  const event = eventOf(report.status, life.execState, report.isNotNow)
  if (isTerminal(life.execState) || waitsForRetry(life, clock)) return { kind: 'wrong-state' }
  if (!isExpected(judged, report.expectedVersion)) return { kind: 'wrong-version' }
  if (event !== 'start' && mayBeOfEarlierAttempt(life, report)) return { kind: 'wrong-state' }
  return nextState(life.execState, event) === undefined ? { kind: 'wrong-state' } : { kind: 'event', event }
}

/** The device has not started this attempt, and the report does not say that it is about this one. */
function mayBeOfEarlierAttempt(
  { execState, attempt }: Life,
  report: { attempt: number | undefined; expectedVersion: number | undefined },
): boolean {
  if (attempt === 1 || execState !== 'PENDING') return false
  return report.attempt === undefined && report.expectedVersion === undefined
}

/** Why output of this attempt is refused; undefined if it is accepted. */
export function refuseOutput(
  life: Life,
  attempt: number | undefined,
  clock: SteadyInstant,
): 'unknown-execution' | 'wrong-state' | undefined {
  if (attempt !== undefined && attempt !== life.attempt) return 'unknown-execution'
  if (mayBeOfEarlierAttempt(life, { attempt, expectedVersion: undefined })) return 'wrong-state'
  return isTerminal(life.execState) || waitsForRetry(life, clock) ? 'wrong-state' : undefined
}

/** A device that has not received the cancel yet may report against the version before it. */
function isExpected({ versionNumber, cancelVersion }: Judged, expected: number | undefined): boolean {
  if (expected === undefined || expected === versionNumber) return true
  return cancelVersion === versionNumber && expected === versionNumber - 1
}
