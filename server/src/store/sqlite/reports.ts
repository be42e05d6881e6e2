// Loads the executions for a group of reports (see domain/execution/apply-reports.ts). A group is one transaction.

import { applyReports } from '../../domain/execution/apply-reports.ts'
import type { ReportOutcome } from '../../domain/execution/device-report.ts'
import type { LiveExecution } from '../../domain/execution/execution-move.ts'
import { isReleased, LIVE, liveJoins } from '../live-executions.ts'
import { inBatch } from '../moves.ts'
import { type ReportMessage, type SentReport, unpackReport } from './report-message.ts'
import type { SqliteWrites } from './writes.ts'

const SELECT = `SELECT ${LIVE} FROM execution ${liveJoins('CROSS JOIN')}` as const
const ACTIVE = `
  ${SELECT} WHERE execution.device_no = :deviceNo AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT :limit` as const
// The outer loop gives the order of the list.
const WAITING = `
  SELECT ${LIVE} FROM json_each(:waiting) AS wanted CROSS JOIN execution ON execution_id = wanted.value
    ${liveJoins('CROSS JOIN')}
  WHERE execution.device_no = :deviceNo AND state = 'PENDING' AND not_before IS NULL LIMIT :limit` as const
const RELEASED =
  `SELECT 1 FROM execution WHERE execution_id = :jobExecutionId AND ${isReleased.sqlite}` as const

export function recordReports(queries: SqliteWrites, messages: ReportMessage[]): Promise<ReportOutcome[]> {
  const reports = messages.map((message) => lookAgain(queries, unpackReport(message)))
  return inBatch(queries, async (moves) => {
    const ids = reports.flatMap(({ report }) => (report.kind === 'start-next' ? [] : [report.jobExecutionId]))
    const offered = loadOffered(queries, reports)
    const loaded = [...(await moves.loadById(ids)), ...(await moves.take(offered))]
    return applyReports(moves.batch, loaded, reports)
  })
}

/** Memory is updated after a release may have been read, so an execution that it considers held may be released. */
function lookAgain({ statementOf }: SqliteWrites, sent: SentReport): SentReport {
  const { report, isHeld } = sent
  if (!isHeld || report.kind === 'start-next') return sent
  const { jobExecutionId } = report
  return statementOf(RELEASED).get({ jobExecutionId }) ? { ...sent, isHeld: false } : sent
}

/** Loads, for each device that requests its next execution, as many as the group has reports of the device. */
function loadOffered({ statementOf }: SqliteWrites, reports: SentReport[]): LiveExecution[] {
  const [active, firstWaiting] = [statementOf(ACTIVE), statementOf(WAITING)]
  const ofDevices = Map.groupBy(reports, ({ deviceNo }) => deviceNo)
  return [...ofDevices].flatMap(([deviceNo, ofDevice]) => {
    const waiting = ofDevice.findLast(({ report }) => report.kind === 'start-next')?.waiting
    if (waiting === undefined || deviceNo === undefined) return []
    const limit = ofDevice.length
    const running = active.all({ deviceNo, limit })
    const left = limit - running.length
    const pending = left === 0 ? [] : firstWaiting.all({ waiting, deviceNo, limit: left })
    return [...running, ...pending].map(LIVE.read)
  })
}
