// Moves executions from state to state, as domain/execution.ts says, and writes with each move what belongs to it:
// the counts of its run, one row of its history, and one event. Runs in the writer, inside a transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecState } from '@jobcast/contract'
import type { DeviceExecution } from '../../domain/device-report.ts'
import {
  afterEvent,
  type ExecutionEvent,
  isTerminal,
  type Life,
  type Moment,
  type Policy,
  type StepTimeout,
  timesOutAt,
} from '../../domain/execution.ts'
import type { Moved } from '../../domain/store.ts'
import { countColumn } from '../schema/count-column.ts'
import type { EventLog } from './events.ts'
import { preparePolicies } from './policies.ts'
import type { Row } from './rows.ts'

/** An execution as a writer needs it. */
export type LiveExecution = {
  jobExecutionId: number
  runId: number
  ownerNo: number
  deviceNo: number
  deviceId: string
  versionNumber: number
  jobVersion: number
  launchedAt: number
  updatedAt: number
  notified: boolean
  statusDetails: string | null
  clientToken: string | null
  cancelVersion: number | null
  outputBytes: number
  outputCut: boolean
  life: Life
}

/** What a move brings besides the state. */
export type Brought = {
  stepTimeout?: StepTimeout
  statusDetails?: Record<string, string> | undefined
  result?: string | undefined
  clientToken?: string | undefined
}

/** `resting`: it waits for a retry and is not offered to its device. */
export type MovedExecution = Moved & { resting: boolean }

const SELECT = `
  SELECT execution_id, execution.run_id, execution.owner_no, execution.device_no, device_id, state, attempt,
    version_number, started_at, finished_at, notified_at, not_before, due_at, execution.updated_at, status_details,
    client_token, cancel_version, output_bytes, output_cut, launched_at, run.version_no, deadline_at
  FROM execution CROSS JOIN run ON run.run_id = execution.run_id
    CROSS JOIN device ON device.device_no = execution.device_no`
const UPDATE = `
  UPDATE execution SET state = :execState, attempt = :attempt, version_number = :versionNumber,
    started_at = :startedAt, finished_at = :finishedAt, not_before = :notBefore, due_at = :dueAt,
    updated_at = :at, status_details = coalesce(:statusDetails, status_details),
    result = coalesce(:result, result), client_token = iif(:byDevice, :clientToken, client_token),
    cancel_version = iif(:execState = 'CANCELING' AND NOT :byDevice, :versionNumber, cancel_version),
    output_bytes = iif(:isRetry, 0, output_bytes), output_cut = iif(:isRetry, 0, output_cut),
    notified_at = iif(:isRetry, NULL, iif(:byDevice, coalesce(notified_at, :at), notified_at)),
    delivered_at = iif(:isRetry, NULL, iif(:byDevice, coalesce(delivered_at, :at), delivered_at))
  WHERE execution_id = :jobExecutionId`
const REMEMBER = `
  INSERT INTO transition (execution_id, version_number, at, from_state, to_state, event, actor, attempt)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const FINISH = `
  UPDATE run SET ended_at = ? WHERE run_id = ? AND pending + in_progress + canceling = 0 RETURNING owner_no`

type Count = { from: ExecState; to: ExecState; runId: number; count: number; at: number }

export function prepareMoves(db: DatabaseSync, log: EventLog) {
  const { policyOf } = preparePolicies(db)
  const byId = db.prepare(`${SELECT} WHERE execution_id = ?`)
  const update = db.prepare(UPDATE)
  const remember = db.prepare(REMEMBER)
  const counters = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const finish = db.prepare(FINISH)
  const counts = new Map<string, Count>()

  function count(runId: number, from: ExecState, to: ExecState, at: number): void {
    if (from === to) return
    const key = `${runId} ${from} ${to}`
    const entry = counts.get(key)
    if (entry) entry.count++
    else counts.set(key, { from, to, runId, count: 1, at })
  }

  /** Rows of runs are written once a transaction, however many of their executions have moved. */
  function writeCounts(): void {
    for (const { from, to, runId, count } of counts.values()) {
      const sql = moveCount(from, to)
      let statement = counters.get(sql)
      if (statement === undefined) {
        statement = db.prepare(sql)
        counters.set(sql, statement)
      }
      statement.run({ count, runId })
    }
    logFinished()
    counts.clear()
  }

  /** A run is finished once: nothing moves in it after that. */
  function logFinished(): void {
    const ended = [...counts.values()].filter(({ to }) => isTerminal(to))
    for (const [runId, { at }] of new Map(ended.map((each) => [each.runId, each]))) {
      const row = finish.get(at, runId)
      if (row) log.runFinished({ ownerNo: row.owner_no as number, runId, at })
    }
  }

  function find(jobExecutionId: number): LiveExecution | undefined {
    const row = byId.get(jobExecutionId)
    return row && toLive(row)
  }

  /** What became of it; undefined when its state does not allow the event. */
  function move(
    before: LiveExecution,
    event: ExecutionEvent,
    moment: Moment,
    actor: string,
    brought: Brought = {},
  ): { execution: LiveExecution; moved: MovedExecution } | undefined {
    const policy: Policy = policyOf(before.jobVersion)
    const life = afterEvent(before.life, event, policy, moment, brought.stepTimeout)
    if (life === undefined) return undefined
    const isRetry = life.attempt !== before.life.attempt
    const byDevice = actor === 'device'
    const { jobExecutionId } = before
    const versionNumber = before.versionNumber + 1
    const statusDetails = brought.statusDetails === undefined ? null : JSON.stringify(brought.statusDetails)
    const { execState, attempt, startedAt, finishedAt, notBefore, dueAt } = life
    update.run({
      jobExecutionId,
      execState,
      attempt,
      versionNumber,
      startedAt,
      finishedAt,
      notBefore,
      dueAt,
      statusDetails,
      at: moment.at,
      result: brought.result ?? null,
      clientToken: brought.clientToken ?? null,
      isRetry: Number(isRetry),
      byDevice: Number(byDevice),
    })
    const from = before.life.execState
    count(before.runId, from, execState, moment.at)
    const [cause, ended] = isRetry ? (['retry', before.life.attempt] as const) : [event, attempt]
    if (event !== 'progress') {
      remember.run(jobExecutionId, versionNumber, moment.at, from, execState, cause, actor, ended)
    }
    const { ownerNo, runId, deviceNo } = before
    log.executionChanged({
      ownerNo,
      runId,
      jobExecutionId,
      deviceNo,
      from,
      execState,
      cause,
      actor,
      attempt: ended,
      versionNumber,
      at: moment.at,
      details: statusDetails,
    })
    const execution: LiveExecution = {
      ...before,
      versionNumber,
      updatedAt: moment.at,
      notified: !isRetry && (byDevice || before.notified),
      statusDetails: statusDetails ?? before.statusDetails,
      life,
    }
    return { execution, moved: { ...movedOf(before, execState), resting: notBefore !== null } }
  }

  return {
    find,
    move,
    policyOf,
    /** All writes of the work share one update of each run they touch. */
    counting<In, Out>(work: (input: In) => Out): (input: In) => Out {
      return (input) => {
        counts.clear()
        const out = work(input)
        writeCounts()
        return out
      }
    },
  }
}

export type Moves = ReturnType<typeof prepareMoves>

export function movedOf(before: LiveExecution, execState: ExecState): Moved {
  const { ownerNo, deviceId, jobExecutionId, runId } = before
  return { ownerNo, deviceId, jobExecutionId, runId, from: before.life.execState, execState }
}

function moveCount(from: ExecState, to: ExecState): string {
  const [less, more] = [countColumn(from), countColumn(to)]
  return `UPDATE run SET ${less} = ${less} - :count, ${more} = ${more} + :count WHERE run_id = :runId`
}

export const LIVE_COLUMNS = SELECT

export function toLive(row: Row): LiveExecution {
  const launchedAt = row.launched_at as number
  return {
    jobExecutionId: row.execution_id as number,
    runId: row.run_id as number,
    ownerNo: row.owner_no as number,
    deviceNo: row.device_no as number,
    deviceId: row.device_id as string,
    versionNumber: row.version_number as number,
    jobVersion: row.version_no as number,
    launchedAt,
    updatedAt: (row.updated_at as number | null) ?? launchedAt,
    notified: row.notified_at !== null,
    statusDetails: row.status_details as string | null,
    clientToken: row.client_token as string | null,
    cancelVersion: row.cancel_version as number | null,
    outputBytes: row.output_bytes as number,
    outputCut: row.output_cut === 1,
    life: {
      execState: row.state as ExecState,
      attempt: row.attempt as number,
      startedAt: row.started_at as number | null,
      finishedAt: row.finished_at as number | null,
      notBefore: row.not_before as number | null,
      dueAt: row.due_at as number | null,
      deadlineAt: row.deadline_at as number | null,
    },
  }
}

export function toDeviceExecution(live: LiveExecution): DeviceExecution {
  const { life, statusDetails } = live
  return {
    jobExecutionId: live.jobExecutionId,
    execState: life.execState,
    attempt: life.attempt,
    versionNumber: live.versionNumber,
    statusDetails: statusDetails === null ? {} : JSON.parse(statusDetails),
    launchedAt: live.launchedAt,
    startedAt: life.startedAt,
    updatedAt: live.updatedAt,
    timesOutAt: timesOutAt(life),
    notified: live.notified,
    jobVersion: live.jobVersion,
  }
}
