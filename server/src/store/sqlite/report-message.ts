// Reports on their way to the writer thread. A clone of an object spells out the name of each field, for each report
// anew, so the usual one travels as a list.

import type { CheckedReport } from '../../domain/execution/apply-reports.ts'
import type { ReportContent } from '../../domain/execution/device-report.ts'

/** `waiting`: ids that memory names, of which some may have been started or ended by now. */
export type SentReport = CheckedReport & { waiting: number[] | undefined }

type Update = Extract<ReportContent, { kind: 'update' }>
type Moment = Update['moment']
type ListedReport = [
  ...[deviceNo: number, jobExecutionId: number],
  ...[status: Update['status'], statusDetails: Update['statusDetails']],
  ...[at: Moment['at'], clock: Moment['clock'], chance: number, cancelDeadlineMs: number],
  ...[isBrief: boolean, quotas: Update['quotas']],
]
export type ReportMessage = ListedReport | SentReport

const unsaid = {
  kind: 'update',
  result: undefined,
  expectedVersion: undefined,
  attempt: undefined,
  stepTimeout: undefined,
  clientToken: undefined,
} as const

/** Listed are updates of known devices that say nothing but a state and details. */
export function packReport(sent: SentReport): ReportMessage {
  const { report, deviceNo } = sent
  const mayBeListed = report.kind === 'update' && deviceNo !== undefined && !sent.isHeld && !sent.mayNotStart
  if (!mayBeListed || saysMore(report)) return sent
  const { jobExecutionId, status, statusDetails, moment, isBrief = false, quotas } = report
  const { at, clock, chance, cancelDeadlineMs } = moment
  // biome-ignore format: as the type has them
  return [deviceNo, jobExecutionId, status, statusDetails, at, clock, chance, cancelDeadlineMs, isBrief, quotas]
}

function saysMore({
  result,
  expectedVersion,
  attempt,
  stepTimeout,
  clientToken,
  refusesProgress,
  maskedFor,
}: Update) {
  return (
    result !== undefined ||
    expectedVersion !== undefined ||
    attempt !== undefined ||
    stepTimeout !== undefined ||
    clientToken !== undefined ||
    refusesProgress !== undefined ||
    maskedFor !== undefined
  )
}

export function unpackReport(message: ReportMessage): SentReport {
  if (!Array.isArray(message)) return message
  const [
    deviceNo,
    jobExecutionId,
    status,
    statusDetails,
    at,
    clock,
    chance,
    cancelDeadlineMs,
    isBrief,
    quotas,
  ] = message
  const moment = { at, clock, chance, cancelDeadlineMs }
  const report = { ...unsaid, jobExecutionId, status, statusDetails, moment, isBrief, quotas }
  return { report, deviceNo, waiting: undefined }
}
