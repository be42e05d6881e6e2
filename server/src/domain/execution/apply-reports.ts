// Applies a group of device reports, in order, to the executions that a store has loaded for it.

import { exceededQuota } from '../event/progress-events.ts'
import type { ReportContent, ReportOutcome } from './device-report.ts'
import { isActive, isOffered } from './execution.ts'
import { type LiveExecution, toDeviceExecution } from './execution-move.ts'
import { judgeReport, refuseOutput } from './judge-report.ts'
import { keepMasked, keepOutput, keepTail } from './keep-output.ts'
import type { MoveBatch } from './move-batch.ts'
import { waitOf } from './not-now.ts'
import type { Moved } from './ports/executions.ts'
import { hasSeen, reportMark } from './seen-reports.ts'

type StartNext = Extract<ReportContent, { kind: 'start-next' }>
type Update = Extract<ReportContent, { kind: 'update' }>
type Output = Extract<ReportContent, { kind: 'output' }>

/** A report with the number of its device; undefined: there is no such device. */
export type CheckedReport = {
  report: ReportContent
  deviceNo: number | undefined
  /** The report names an execution that is not released, so its device cannot know it. */
  isHeld?: boolean
  /** The fleet is frozen, or the execution's window is closed: treated as held unless it has started. */
  mayNotStart?: boolean
}

/**
 * The store has loaded the executions that reports name. For each device that requests its next one, it has loaded as many
 * offered executions as the group has reports of the device, since each report ends at most one.
 */
export function applyReports(
  batch: MoveBatch,
  loaded: LiveExecution[],
  reports: CheckedReport[],
): ReportOutcome[] {
  const ofDevice = Map.groupBy(batch.load(loaded), ({ deviceNo }) => deviceNo)
  return reports.map(({ report, deviceNo, isHeld, mayNotStart }) => {
    if (deviceNo === undefined) return { kind: 'unknown-device' }
    if (isHeld) return { kind: 'unknown-execution' }
    return report.kind === 'start-next'
      ? startNext(batch, report, nextOf(batch, ofDevice.get(deviceNo) ?? []))
      : reportOn(batch, report, deviceNo, mayNotStart)
  })
}

/** The one in progress, otherwise the first that is offered. */
function nextOf(batch: MoveBatch, loaded: LiveExecution[]): LiveExecution | undefined {
  let next: LiveExecution | undefined
  for (const { jobExecutionId } of loaded) {
    const execution = batch.find(jobExecutionId)
    if (execution === undefined || !isOffered(execution.life)) continue
    if (next === undefined || comesBefore(execution, next)) next = execution
  }
  return next
}

function comesBefore(one: LiveExecution, other: LiveExecution): boolean {
  const [active, otherActive] = [isActive(one.life.execState), isActive(other.life.execState)]
  if (active !== otherActive) return active
  // Executions in progress are not interrupted.
  if (!active && one.priority !== other.priority) return one.priority > other.priority
  return one.jobExecutionId < other.jobExecutionId
}

function startNext(batch: MoveBatch, report: StartNext, next: LiveExecution | undefined): ReportOutcome {
  if (next === undefined) return { kind: 'nothing-pending' }
  if (isActive(next.life.execState)) return done(next)
  if (report.statusDetails && needsMask(batch, next, report)) return askForMask(next)
  const { moment, statusDetails, stepTimeout } = report
  const fields = { statusDetails, stepTimeout }
  const started = batch.move(next, { event: 'start', moment, actor: 'device', fields })
  if (started === undefined) throw new Error('a pending execution could not be started')
  return done(started.execution, started.moved)
}

/** A report on one of the device's own executions. */
function reportOn(
  batch: MoveBatch,
  report: Update | Output,
  deviceNo: number,
  mayNotStart = false,
): ReportOutcome {
  const execution = batch.find(report.jobExecutionId)
  if (execution?.deviceNo !== deviceNo) return { kind: 'unknown-execution' }
  if (mayNotStart && execution.life.execState === 'PENDING' && !isRepeated(execution, report)) {
    return { kind: 'unknown-execution' }
  }
  return report.kind === 'update' ? update(batch, execution, report) : output(batch, execution, report)
}

/** The report was accepted before, for an attempt that has ended since. */
function isRepeated({ seenReports }: LiveExecution, report: Update | Output): boolean {
  return report.kind === 'update' && hasSeen(seenReports, reportMark(report))
}

function update(batch: MoveBatch, before: LiveExecution, report: Update): ReportOutcome {
  const { tail } = report
  const mayHold = report.statusDetails ?? report.result ?? before.outputPieces > 0
  if (mayHold && needsMask(batch, before, report)) return askForMask(before)
  if (tail && !isNext(before, tail)) return askForMask(before)
  const mark = reportMark(report)
  const waitMs = waitOf(report)
  const judged = { ...report, mark, isNotNow: waitMs !== undefined }
  const judgement = judgeReport(before, judged, report.moment.clock)
  switch (judgement.kind) {
    case 'unknown-execution':
      return judgement
    case 'double':
      return done(before)
    case 'wrong-state':
    case 'wrong-version':
      return { kind: judgement.kind, execution: toDeviceExecution(before) }
    case 'event': {
      const { event } = judgement
      const { moment, statusDetails, result, stepTimeout, quotas } = report
      if (event === 'progress' && report.refusesProgress) return { kind: 'no-space' }
      const quota = event === 'progress' ? exceededQuota(before, statusDetails, quotas) : undefined
      if (quota) return { kind: 'over-quota', quota }
      const fields = { statusDetails, result, stepTimeout, mark, waitMs }
      const kept = tail && keepTail(before, tail)
      if (kept) batch.keepOutput(kept.execution, kept.piece, kept.state)
      const execution = kept?.execution ?? before
      const after = batch.move(execution, { event, moment, actor: 'device', fields })
      if (after === undefined) throw new Error('a report that counts cannot be applied')
      if (event !== 'progress') return done(after.execution, after.moved)
      return report.isBrief ? noted : done(after.execution)
    }
  }
}

function output(batch: MoveBatch, execution: LiveExecution, report: Output): ReportOutcome {
  const refusal = refuseOutput(execution.life, report.attempt, report.moment.clock)
  if (refusal === 'unknown-execution') return { kind: refusal }
  if (refusal) return { kind: refusal, execution: toDeviceExecution(execution) }
  const { masked } = report
  if (needsMask(batch, execution, report)) return askForMask(execution)
  if (masked && !isNext(execution, masked)) return askForMask(execution)
  const kept = masked ? keepMasked(execution, { ...report, masked }) : keepOutput(execution, report)
  if (kept.execution) batch.keepOutput(kept.execution, kept.piece, kept.state)
  return kept.outcome
}

/** The report was not masked for this run, whose reports may contain secrets. */
function needsMask(batch: MoveBatch, execution: LiveExecution, { maskedFor }: ReportContent): boolean {
  return maskedFor !== execution.runId && batch.mayHaveSecrets(execution)
}

/** No output was added since this part was masked. */
function isNext({ life, outputPieces }: LiveExecution, part: { attempt: number; pieces: number }): boolean {
  return part.attempt === life.attempt && part.pieces === outputPieces
}

function askForMask({ jobExecutionId, runId, jobVersion }: LiveExecution): ReportOutcome {
  return { kind: 'needs-mask', jobExecutionId, runId, jobVersion }
}

/** A shared object, so that a message between threads contains it once. */
const noted: ReportOutcome = { kind: 'noted' }

function done(execution: LiveExecution, moved?: Moved): ReportOutcome {
  return { kind: 'done', execution: toDeviceExecution(execution), moved }
}
