// Whether a device's report about an execution counts, asked by every store inside its transaction.

import type { ReportedStatus } from '@jobcast/contract'
import { type ExecutionEvent, eventOf, isTerminal, type Life, nextState, waitsForRetry } from './execution.ts'
import type { SteadyInstant } from './instants.ts'

export type Judged = {
  life: Life
  versionNumber: number
  /** Of the last report that counted. */
  clientToken: string | null
  /** The version that the owner's wish to cancel made, while that is the newest change. */
  cancelVersion: number | null
}

export type Judgement =
  | { kind: 'event'; event: ExecutionEvent }
  /** The report before it, sent once more: it changes nothing and is answered again. */
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
  // A late word about an earlier attempt must not end the one that is to come.
  if (report.attempt !== undefined && report.attempt !== life.attempt) return { kind: 'unknown-execution' }
  const event = eventOf(report.status, life.execState)
  if (isTerminal(life.execState) || waitsForRetry(life, clock)) return { kind: 'wrong-state' }
  if (event === 'progress' && report.clientToken !== undefined && report.clientToken === clientToken) {
    return { kind: 'double' }
  }
  if (!isExpected(judged, report.expectedVersion)) return { kind: 'wrong-version' }
  return nextState(life.execState, event) === undefined ? { kind: 'wrong-state' } : { kind: 'event', event }
}

/** Why output of this attempt is not taken; undefined if it is. */
export function refuseOutput(
  life: Life,
  attempt: number | undefined,
  clock: SteadyInstant,
): 'unknown-execution' | 'wrong-state' | undefined {
  if (attempt !== undefined && attempt !== life.attempt) return 'unknown-execution'
  return isTerminal(life.execState) || waitsForRetry(life, clock) ? 'wrong-state' : undefined
}

/** A device that does not know yet that it is asked to stop has missed no change of its own: its result counts. */
function isExpected({ versionNumber, cancelVersion }: Judged, expected: number | undefined): boolean {
  if (expected === undefined || expected === versionNumber) return true
  return cancelVersion === versionNumber && expected === versionNumber - 1
}
