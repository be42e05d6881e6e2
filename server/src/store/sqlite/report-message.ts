// The format of reports in messages to the writer thread. A cloned object contains the name of each field, for each report
// again, so common reports are sent as lists.

import type { CheckedReport } from '../../domain/execution/apply-reports.ts'
import type { ReportContent } from '../../domain/execution/device-report.ts'

/** `waiting`: ids from memory, some of which may have started or ended meanwhile. */
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

/** Packs updates of known devices with only a state and details as lists. */
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
