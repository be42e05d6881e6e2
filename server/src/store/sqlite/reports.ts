// What devices tell: start-next, update, output. A group of reports is one transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { DeviceReport, ReportOutcome } from '../../domain/device-report.ts'
import { isResting, isTerminal } from '../../domain/execution.ts'
import { judgeReport } from '../../domain/judge-report.ts'
import {
  LIVE_COLUMNS,
  type LiveExecution,
  type MovedExecution,
  type Moves,
  toDeviceExecution,
  toLive,
} from './moves.ts'
import { prepareOutputs } from './outputs.ts'

// The one that is under way comes first, and the writer finds it itself: what is sent before may have started it.
const ACTIVE = `
  ${LIVE_COLUMNS} WHERE execution.device_no = ? AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT 1`
const WAITING = `
  ${LIVE_COLUMNS} WHERE execution_id IN (SELECT value FROM json_each(?)) AND execution.device_no = ?
    AND state = 'PENDING' AND (not_before IS NULL OR not_before <= ?)
  ORDER BY execution_id LIMIT 1`

/** A report whose device was looked up. */
export type CheckedReport =
  | (Extract<DeviceReport, { kind: 'start-next' }> & { deviceNo: number; waiting: number[] })
  | (Extract<DeviceReport, { kind: 'update' | 'output' }> & { deviceNo: number })

type Done = Extract<ReportOutcome, { kind: 'done' }>
export type RecordedReport = Exclude<ReportOutcome, Done> | (Done & { moved: MovedExecution | undefined })

export function prepareReports(db: DatabaseSync, { find, move }: Moves) {
  const active = db.prepare(ACTIVE)
  const firstWaiting = db.prepare(WAITING)
  const { keepOutput } = prepareOutputs(db)

  function startNext(report: Extract<CheckedReport, { kind: 'start-next' }>): RecordedReport {
    const { deviceNo, moment, statusDetails, stepTimeout } = report
    const running = active.get(deviceNo)
    if (running) return done(toLive(running))
    const row = firstWaiting.get(JSON.stringify(report.waiting), deviceNo, moment.clock)
    if (row === undefined) return { kind: 'nothing-pending' }
    const started = move(toLive(row), 'start', moment, 'device', { statusDetails, stepTimeout })
    if (started === undefined) throw new Error('what is pending cannot be started')
    return done(started.execution, started.moved)
  }

  /** The device's own execution, of the attempt it speaks of. */
  function findOwn(report: { deviceNo: number; jobExecutionId: number }): LiveExecution | undefined {
    const execution = find(report.jobExecutionId)
    return execution?.deviceNo === report.deviceNo ? execution : undefined
  }

  function update(report: Extract<CheckedReport, { kind: 'update' }>): RecordedReport {
    const execution = findOwn(report)
    if (execution === undefined) return { kind: 'unknown-execution' }
    const judgement = judgeReport(execution, report, report.moment.clock)
    switch (judgement.kind) {
      case 'unknown-execution':
        return judgement
      case 'double':
        return done(execution)
      case 'wrong-state':
      case 'wrong-version':
        return { kind: judgement.kind, execution: toDeviceExecution(execution) }
      case 'event': {
        const { statusDetails, result, stepTimeout, clientToken } = report
        const brought = { statusDetails, result, stepTimeout, clientToken }
        const after = move(execution, judgement.event, report.moment, 'device', brought)
        if (after === undefined) throw new Error('a report that counts cannot be carried out')
        return done(after.execution, judgement.event === 'progress' ? undefined : after.moved)
      }
    }
  }

  function output(report: Extract<CheckedReport, { kind: 'output' }>): RecordedReport {
    const execution = findOwn(report)
    if (execution === undefined) return { kind: 'unknown-execution' }
    const { life } = execution
    if (report.attempt !== undefined && report.attempt !== life.attempt) return { kind: 'unknown-execution' }
    if (isTerminal(life.execState) || isResting(life, report.moment.clock)) {
      return { kind: 'wrong-state', execution: toDeviceExecution(execution) }
    }
    return keepOutput(execution, report.offset, report.data, report.maxBytes)
  }

  function record(report: CheckedReport): RecordedReport {
    switch (report.kind) {
      case 'start-next':
        return startNext(report)
      case 'update':
        return update(report)
      case 'output':
        return output(report)
    }
  }

  return { recordReports: (reports: CheckedReport[]): RecordedReport[] => reports.map(record) }
}

function done(execution: LiveExecution, moved?: MovedExecution): RecordedReport {
  return { kind: 'done', execution: toDeviceExecution(execution), moved }
}
