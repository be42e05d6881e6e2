// What devices tell: start-next, update, output. A group of reports is one transaction: all rows that it may be about
// are locked and read at once, the reports are judged one after the other in memory, and what came of it is written at
// once.

import type { DeviceReport, ReportOutcome } from '../../domain/device-report.ts'
import { isActive, isResting, isTerminal } from '../../domain/execution.ts'
import { judgeReport } from '../../domain/judge-report.ts'
import type { DeviceKey, Moved, Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { InOrder } from './in-order.ts'
import { type LiveExecution, toDeviceExecution } from './live-executions.ts'
import { Moves } from './moves.ts'
import { insertPieces, keepOutput, type Piece } from './outputs.ts'
import type { Policies } from './policies.ts'
import { deviceKeyText, findCandidates } from './start-candidates.ts'
import type { Transaction } from './transaction.ts'

type StartNext = Extract<DeviceReport, { kind: 'start-next' }>
type Update = Extract<DeviceReport, { kind: 'update' }>
type Output = Extract<DeviceReport, { kind: 'output' }>

export function buildReportSteps(db: Database, policies: Policies): Pick<Store, 'recordReports'> {
  const inOrder = new InOrder()
  return {
    async recordReports(reports) {
      if (reports.length === 0) return []
      return inOrder.take((passOn) =>
        db.inGroupTransaction(async (transaction) => {
          const group = new ReportGroup(transaction, policies)
          await group.lock(reports)
          // Whatever is sent later about these executions waits for their locks.
          passOn()
          const outcomes = await group.judge(reports)
          group.write()
          return outcomes
        }),
      )
    },
  }
}

class ReportGroup {
  readonly #transaction: Transaction
  readonly #moves: Moves
  readonly #pieces: Piece[] = []
  readonly #deviceNos = new Map<string, number>()
  /** Those that a start-next may be about, by device, in the order of their ids. */
  readonly #candidates = new Map<number, number[]>()

  constructor(transaction: Transaction, policies: Policies) {
    this.#transaction = transaction
    this.#moves = new Moves(transaction, policies)
  }

  async lock(reports: DeviceReport[]): Promise<void> {
    const looking = this.#lookUp(reports)
    const named = reports.flatMap((report) => (report.kind === 'start-next' ? [] : [report.jobExecutionId]))
    // All locks in one order: candidates have to be known first.
    const found = reports.some(({ kind }) => kind === 'start-next') ? await looking : []
    const [locked] = await Promise.all([this.#moves.lockById([...named, ...found]), looking])
    for (const execution of locked) this.#offer(execution)
  }

  /** Gives the ids of candidates: as many for each device as the group may end, and one more. */
  async #lookUp(reports: DeviceReport[]): Promise<number[]> {
    const wanted = new Map<string, Wanted>()
    for (const { kind, device } of reports) {
      const key = deviceKeyText(device)
      const entry = wanted.get(key) ?? { device, told: 0, asks: false }
      wanted.set(key, { device, told: entry.told + 1, asks: entry.asks || kind === 'start-next' })
    }
    const devices = [...wanted.values()].map(({ device, told, asks }) => ({
      device,
      enough: asks ? told + 1 : 0,
    }))
    const found = await findCandidates(this.#transaction, devices)
    for (const { device, deviceNo } of found) this.#deviceNos.set(deviceKeyText(device), deviceNo)
    return found.flatMap(({ jobExecutionId }) => jobExecutionId ?? [])
  }

  async judge(reports: DeviceReport[]): Promise<ReportOutcome[]> {
    const outcomes: ReportOutcome[] = []
    for (const report of reports) {
      const deviceNo = this.#deviceNos.get(deviceKeyText(report.device))
      outcomes.push(
        deviceNo === undefined ? { kind: 'unknown-device' } : await this.#record(report, deviceNo),
      )
    }
    return outcomes
  }

  write(): void {
    insertPieces(this.#transaction, this.#pieces)
    this.#moves.write()
  }

  #offer({ deviceNo, jobExecutionId }: LiveExecution): void {
    const ids = this.#candidates.get(deviceNo)
    if (ids) ids.push(jobExecutionId)
    else this.#candidates.set(deviceNo, [jobExecutionId])
  }

  #record(report: DeviceReport, deviceNo: number): ReportOutcome | Promise<ReportOutcome> {
    switch (report.kind) {
      case 'start-next':
        return this.#startNext(report, deviceNo)
      case 'update':
        return this.#update(report, deviceNo)
      case 'output':
        return this.#output(report, deviceNo)
    }
  }

  async #startNext(report: StartNext, deviceNo: number): Promise<ReportOutcome> {
    const { moment, statusDetails, stepTimeout } = report
    const next = this.#nextOf(deviceNo) ?? (await this.#lookAgain(report, deviceNo))
    if (next === undefined) return { kind: 'nothing-pending' }
    if (isActive(next.life.execState)) return done(next)
    const started = this.#moves.move(next, 'start', moment, 'device', { statusDetails, stepTimeout })
    if (started === undefined) throw new Error('what is pending cannot be started')
    return done(started.execution, started.moved)
  }

  /** The one under way, else the first that waits and does not rest before a retry. */
  #nextOf(deviceNo: number): LiveExecution | undefined {
    const ids = this.#candidates.get(deviceNo) ?? []
    const live = ids.flatMap((id) => this.#moves.find(id) ?? [])
    return (
      live.find(({ life }) => isActive(life.execState)) ??
      live.find(({ life }) => life.execState === 'PENDING' && life.notBefore === null)
    )
  }

  /** All that was found has been ended by somebody else before it could be locked: there may be more. */
  async #lookAgain(report: StartNext, deviceNo: number): Promise<LiveExecution | undefined> {
    const seen = new Set(this.#candidates.get(deviceNo))
    if (seen.size === 0) return undefined
    const wanted = [{ device: report.device, enough: seen.size + 1 }]
    const found = await findCandidates(this.#transaction, wanted)
    const fresh = found.flatMap(({ jobExecutionId: id }) => (id === null || seen.has(id) ? [] : [id]))
    if (fresh.length === 0) return undefined
    for (const execution of await this.#moves.lockById(fresh)) this.#offer(execution)
    return this.#nextOf(deviceNo) ?? this.#lookAgain(report, deviceNo)
  }

  #update(report: Update, deviceNo: number): ReportOutcome {
    const execution = this.#findOwn(report.jobExecutionId, deviceNo)
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
        const after = this.#moves.move(execution, judgement.event, report.moment, 'device', brought)
        if (after === undefined) throw new Error('a report that counts cannot be carried out')
        return done(after.execution, judgement.event === 'progress' ? undefined : after.moved)
      }
    }
  }

  #output(report: Output, deviceNo: number): ReportOutcome {
    const execution = this.#findOwn(report.jobExecutionId, deviceNo)
    if (execution === undefined) return { kind: 'unknown-execution' }
    const { life } = execution
    if (report.attempt !== undefined && report.attempt !== life.attempt) return { kind: 'unknown-execution' }
    if (isTerminal(life.execState) || isResting(life, report.moment.clock)) {
      return { kind: 'wrong-state', execution: toDeviceExecution(execution) }
    }
    const { outcome, after, piece } = keepOutput(execution, report.offset, report.data, report.maxBytes)
    if (after) this.#moves.set(after)
    if (piece) this.#pieces.push(piece)
    return outcome
  }

  #findOwn(jobExecutionId: number, deviceNo: number): LiveExecution | undefined {
    const execution = this.#moves.find(jobExecutionId)
    return execution?.deviceNo === deviceNo ? execution : undefined
  }
}

type Wanted = { device: DeviceKey; told: number; asks: boolean }
function done(execution: LiveExecution, moved?: Moved): ReportOutcome {
  return { kind: 'done', execution: toDeviceExecution(execution), moved }
}
