// Loads what a group of reports may be about (see ../apply-reports.ts). A group is one transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { DeviceReport, ReportOutcome } from '../../domain/device-report.ts'
import type { LiveExecution } from '../../domain/execution-move.ts'
import { applyReports } from '../apply-reports.ts'
import { toLive } from '../live-executions.ts'
import { asOnDisk, type MovedExecution, type Moves, SELECT_LIVE } from './moves.ts'

// A bare `LIMIT ?` has SQLite prepare the statement again whenever the number is bound, which takes longer than to run it.
const ACTIVE = `
  ${SELECT_LIVE} WHERE execution.device_no = ? AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT 0 + ?`
const WAITING = `
  ${SELECT_LIVE} WHERE execution_id IN (SELECT value FROM json_each(?)) AND execution.device_no = ?
    AND state = 'PENDING' AND not_before IS NULL
  ORDER BY execution_id LIMIT 0 + ?`

/** `waiting`: ids that memory names, of which some may have been started or ended by now. */
export type SentReport = { report: DeviceReport; deviceNo: number; waiting?: number[] }

type Done = Extract<ReportOutcome, { kind: 'done' }>
export type RecordedReport = Exclude<ReportOutcome, Done> | (Done & { moved: MovedExecution | undefined })

export function prepareReports(db: DatabaseSync, { loadByIds, inBatch }: Moves) {
  const active = db.prepare(ACTIVE)
  const firstWaiting = db.prepare(WAITING)

  /** Of a device that asks for its next one, as many as this group has reports of it. */
  function loadOffered({ deviceNo, waiting }: SentReport, limit: number): LiveExecution[] {
    const running = active.all(deviceNo, limit)
    const left = limit - running.length
    const pending = left === 0 ? [] : firstWaiting.all(JSON.stringify(waiting), deviceNo, left)
    return [...running, ...pending].map(toLive)
  }

  function load(reports: SentReport[]): LiveExecution[] {
    const ids = new Set<number>()
    const perDevice = new Map<number, number>()
    const asking = new Map<number, SentReport>()
    for (const sent of reports) {
      perDevice.set(sent.deviceNo, (perDevice.get(sent.deviceNo) ?? 0) + 1)
      if (sent.report.kind === 'start-next') asking.set(sent.deviceNo, sent)
      else ids.add(sent.report.jobExecutionId)
    }
    const offered = [...asking.values()].flatMap((sent) =>
      loadOffered(sent, perDevice.get(sent.deviceNo) ?? 1),
    )
    return ids.size === 0 ? offered : [...loadByIds([...ids]), ...offered]
  }

  return {
    recordReports(reports: SentReport[]): RecordedReport[] {
      return inBatch((batch) =>
        applyReports(batch, load(reports), reports).map((outcome) =>
          outcome.kind === 'done' && outcome.moved
            ? { ...outcome, moved: asOnDisk(batch, outcome.moved) }
            : (outcome as RecordedReport),
        ),
      )
    },
  }
}
