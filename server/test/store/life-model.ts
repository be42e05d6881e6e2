// Executions of one owner as a plain list in memory, with the clocks, retries and histories that a store keeps of them.

import { type SteadyInstant, steadyInstant } from '../../src/domain/common/instants.ts'
import type { DeviceExecution, ReportOutcome } from '../../src/domain/execution/device-report.ts'
import {
  afterEvent,
  afterRetryDelay,
  dueEvent,
  type ExecutionEvent,
  isActive,
  isEndedBy,
  isTerminal,
  type Life,
  type Moment,
  type StepTimeout,
  timesOutAt,
} from '../../src/domain/execution/execution.ts'
import { judgeReport } from '../../src/domain/execution/judge-report.ts'
import { waitOf } from '../../src/domain/execution/not-now.ts'
import type { Moved, StoredExecution, StoredTransition } from '../../src/domain/execution/ports/executions.ts'
import { reasonOf } from '../../src/domain/execution/reported-reason.ts'
import { reportMark, withSeen } from '../../src/domain/execution/seen-reports.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import type { Update } from './device-reports.ts'

type ReportFields = Partial<Pick<Update, 'statusDetails' | 'result'>> & {
  stepTimeout?: StepTimeout
  mark?: string | undefined
  waitMs?: number | undefined
}

type ModelExecution = {
  run: LaunchedRun
  jobExecutionId: number
  deviceId: string
  deviceName: string
  expireAt: number | null
  life: Life
  versionNumber: number
  seenReports: string | null
  cancelVersion: number | null
  updatedAt: number
  notifiedAt: number | null
  deliveredAt: number | null
  statusDetails: Record<string, string>
  result: unknown
  history: StoredTransition[]
}

export class LifeModel {
  readonly ownerNo: number
  readonly content: StoredJobContent
  /** Oldest first. */
  readonly executions: ModelExecution[] = []

  constructor(ownerNo: number, content: StoredJobContent) {
    this.ownerNo = ownerNo
    this.content = content
  }

  launch(run: LaunchedRun, clock: SteadyInstant, keyId: string): void {
    const { expireAfterSeconds, deadlineSeconds } = this.content
    const after = (seconds: number | null) =>
      seconds === null ? null : steadyInstant(clock + seconds * 1000)
    run.devices.forEach(({ deviceId, deviceName }, index) => {
      this.executions.push({
        run,
        jobExecutionId: run.firstExecutionId + index,
        deviceId,
        deviceName,
        expireAt: after(expireAfterSeconds),
        life: {
          execState: 'PENDING',
          attempt: 1,
          startedAt: null,
          finishedAt: null,
          notBefore: null,
          dueAt: null,
          deadlineAt: after(deadlineSeconds),
          heldMs: 0,
          waitsFrom: null,
        },
        versionNumber: 1,
        seenReports: null,
        cancelVersion: null,
        updatedAt: run.launchedAt,
        notifiedAt: null,
        deliveredAt: null,
        statusDetails: {},
        result: null,
        history: [
          {
            at: run.launchedAt,
            from: null,
            to: 'PENDING',
            event: 'trigger',
            actor: `key ${keyId}`,
            actorName: null,
            attempt: 1,
            versionNumber: 1,
            reason: null,
          },
        ],
      })
    })
  }

  startNext(deviceId: string, moment: Moment, brought: ReportFields): ReportOutcome {
    const [next] = this.queue(deviceId)
    if (next === undefined) return { kind: 'nothing-pending' }
    if (isActive(next.life.execState)) return { kind: 'done', execution: this.seen(next), moved: undefined }
    const moved = this.move(next, 'start', moment, 'device', brought)
    return { kind: 'done', execution: this.seen(next), moved }
  }

  update(deviceId: string, report: Update): ReportOutcome {
    const execution = this.executions.find(({ jobExecutionId }) => jobExecutionId === report.jobExecutionId)
    if (execution?.deviceId !== deviceId) return { kind: 'unknown-execution' }
    const mark = reportMark(report)
    const waitMs = waitOf(report)
    const judged = { ...report, mark, isNotNow: waitMs !== undefined }
    const judgement = judgeReport(execution, judged, report.moment.clock)
    switch (judgement.kind) {
      case 'unknown-execution':
        return judgement
      case 'double':
        return { kind: 'done', execution: this.seen(execution), moved: undefined }
      case 'event': {
        const moved = this.move(execution, judgement.event, report.moment, 'device', {
          ...report,
          mark,
          waitMs,
        })
        const isMove = judgement.event !== 'progress'
        return { kind: 'done', execution: this.seen(execution), moved: isMove ? moved : undefined }
      }
      default:
        return { kind: judgement.kind, execution: this.seen(execution) }
    }
  }

  /** Undefined when the state does not allow it. */
  move(
    execution: ModelExecution,
    event: ExecutionEvent,
    moment: Moment,
    actor: string,
    brought: ReportFields = {},
  ): Moved | undefined {
    const { life: before, jobExecutionId, deviceId, run } = execution
    const life = afterEvent(before, event, this.content, moment, brought.stepTimeout, brought.waitMs)
    if (life === undefined) return undefined
    const isRetry = life.attempt > before.attempt
    const from = before.execState
    execution.life = life
    execution.versionNumber++
    if (event === 'cancel' && life.execState === 'CANCELING')
      execution.cancelVersion = execution.versionNumber
    execution.updatedAt = moment.at
    execution.statusDetails = brought.statusDetails ?? execution.statusDetails
    if (brought.result !== undefined) execution.result = JSON.parse(brought.result)
    if (actor === 'device') {
      if (brought.mark !== undefined) {
        const endsAttempt = isRetry || isTerminal(life.execState)
        execution.seenReports = withSeen(execution.seenReports, brought.mark, endsAttempt)
      }
      execution.notifiedAt ??= moment.at
      execution.deliveredAt ??= moment.at
    }
    if (isRetry || event === 'not-now') {
      execution.notifiedAt = null
      execution.deliveredAt = null
    }
    if (event !== 'progress') {
      execution.history.push({
        at: moment.at,
        from,
        to: life.execState,
        event: isRetry ? 'retry' : event,
        actor,
        actorName: null,
        attempt: before.attempt,
        versionNumber: execution.versionNumber,
        reason: reasonOf(isRetry ? 'retry' : event, life.execState, brought.statusDetails),
      })
    }
    const { ownerNo } = this
    return { ownerNo, deviceId, jobExecutionId, runId: run.runId, from, execState: life.execState }
  }

  fireClocks(moment: Moment): Moved[] {
    const { clock } = moment
    const isOver = (at: number | null) => at !== null && at <= clock
    const byThemselves = this.executions
      .filter(({ life }) => isOver(life.dueAt))
      .map((execution) => this.#fireDue(execution, moment))
    const expired = this.executions
      .filter(({ life, expireAt }) => isEndedBy('expire', life) && isOver(expireAt))
      .map((execution) => this.move(execution, 'expire', moment, 'clock'))
    const tooLate = this.executions
      .filter(({ life }) => isOver(life.deadlineAt))
      .map((execution) => this.move(execution, 'miss-deadline', moment, 'clock'))
    return [...byThemselves, ...expired, ...tooLate].filter((moved) => moved !== undefined)
  }

  #fireDue(execution: ModelExecution, moment: Moment): Moved | undefined {
    const event = dueEvent(execution.life)
    if (event !== 'retry-due') return this.move(execution, event, moment, 'clock')
    execution.life = afterRetryDelay(execution.life, this.content, moment.clock)
    const { deviceId, jobExecutionId, run } = execution
    const { ownerNo } = this
    const state = execution.life.execState
    return { ownerNo, deviceId, jobExecutionId, runId: run.runId, from: state, execState: state }
  }

  /** What the device can see: a retry delay is over when a clock says so. */
  queue(deviceId: string): ModelExecution[] {
    const open = this.executions.filter(
      ({ deviceId: of, life }) => of === deviceId && !isTerminal(life.execState) && life.notBefore === null,
    )
    const [active, waiting] = [true, false].map((wanted) =>
      open.filter(({ life }) => isActive(life.execState) === wanted),
    )
    return [...(active ?? []), ...(waiting ?? [])]
  }

  seen(execution: ModelExecution): DeviceExecution {
    const { life, run } = execution
    return {
      jobExecutionId: execution.jobExecutionId,
      execState: life.execState,
      attempt: life.attempt,
      versionNumber: execution.versionNumber,
      statusDetails: execution.statusDetails,
      launchedAt: run.launchedAt,
      startedAt: life.startedAt,
      updatedAt: execution.updatedAt,
      timesOutAt: timesOutAt(life),
      notified: execution.notifiedAt !== null,
      runId: run.runId,
      jobVersion: run.jobVersion,
      priority: 5,
    }
  }

  stored(execution: ModelExecution): StoredExecution {
    const { life, run } = execution
    return {
      jobExecutionId: execution.jobExecutionId,
      jobName: run.jobName,
      deviceId: execution.deviceId,
      deviceName: execution.deviceName,
      execState: life.execState,
      launchedAt: run.launchedAt,
      runId: run.runId,
      attempt: life.attempt,
      versionNumber: execution.versionNumber,
      startedAt: life.startedAt,
      finishedAt: life.finishedAt,
      notifiedAt: execution.notifiedAt,
      deliveredAt: execution.deliveredAt,
      notBefore: life.notBefore,
      statusDetails: execution.statusDetails,
      result: execution.result,
      outputBytes: 0,
      outputCut: false,
      priority: 5,
    }
  }
}
