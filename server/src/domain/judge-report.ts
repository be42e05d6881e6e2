// Whether a device's report is accepted; called by every store inside its transaction.

import type { ReportedStatus } from '@jobcast/contract'
import { type ExecutionEvent, eventOf, isTerminal, type Life, nextState, waitsForRetry } from './execution.ts'
import type { SteadyInstant } from './instants.ts'

export type Judged = {
  life: Life
  versionNumber: number
  /** Of the last accepted report. */
  clientToken: string | null
  /** The version created by the owner's cancel request, while that is the latest change. */
  cancelVersion: number | null
}

export type Judgement =
  | { kind: 'event'; event: ExecutionEvent }
  /** A repetition of the previous report: it changes nothing and gets the same answer. */
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
    clientToken: string | undefined
  },
  clock: SteadyInstant,
): Judgement {
  const { life, clientToken } = judged
  // A late report of an earlier attempt must not end the next one.
  if (report.attempt !== undefined && report.attempt !== life.attempt) return { kind: 'unknown-execution' }
  const event = eventOf(report.status, life.execState)
  if (isTerminal(life.execState) || waitsForRetry(life, clock)) return { kind: 'wrong-state' }
  if (event === 'progress' && report.clientToken !== undefined && report.clientToken === clientToken) {
    return { kind: 'double' }
  }
  if (!isExpected(judged, report.expectedVersion)) return { kind: 'wrong-version' }
  return nextState(life.execState, event) === undefined ? { kind: 'wrong-state' } : { kind: 'event', event }
}

/** Why output of this attempt is refused; undefined if it is accepted. */
export function refuseOutput(
  life: Life,
  attempt: number | undefined,
  clock: SteadyInstant,
): 'unknown-execution' | 'wrong-state' | undefined {
  if (attempt !== undefined && attempt !== life.attempt) return 'unknown-execution'
  return isTerminal(life.execState) || waitsForRetry(life, clock) ? 'wrong-state' : undefined
}

/** A device that has not received the cancel yet may report against the version before it. */
function isExpected({ versionNumber, cancelVersion }: Judged, expected: number | undefined): boolean {
  if (expected === undefined || expected === versionNumber) return true
  return cancelVersion === versionNumber && expected === versionNumber - 1
}
