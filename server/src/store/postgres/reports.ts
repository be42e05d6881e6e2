// Locks and loads the executions for a group of reports (see domain/execution/apply-reports.ts). A group is one transaction.

import { defaultPriority } from '@jobcast/contract/words'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import { applyReports } from '../../domain/execution/apply-reports.ts'
import type { DeviceReport } from '../../domain/execution/device-report.ts'
import { isOffered } from '../../domain/execution/execution.ts'
import type { LiveExecution } from '../../domain/execution/execution-move.ts'
import { isInWindow, isNotFrozen, isReleased } from '../live-executions.ts'
import { inBatch, type Moves } from '../moves.ts'
import { keysOf, type Queries } from '../queries.ts'
import { flag, number, orNull, rows } from '../schema/column.ts'
import { type Database, lockWaitMs } from './database.ts'
import { InOrder } from './in-order.ts'

// Whether a device exists, and the candidates for its start-next: its executions in progress, and the first waiting ones. Most
// executions have the default priority, and are found in the order of their ids.
const WAITING = `SELECT execution_id FROM execution WHERE device_no = device.device_no AND state = 'PENDING'
         AND not_before IS NULL AND ${isReleased.postgres}
         AND ${isNotFrozen} AND ${isInWindow}` as const
const CANDIDATES = `
  SELECT position, device_no AS "deviceNo", execution_id AS "jobExecutionId"
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:deviceIds AS text[]), CAST(:limits AS int[]))
    WITH ORDINALITY AS wanted (owner_no, device_id, enough, position)
    JOIN device USING (owner_no, device_id)
    LEFT JOIN LATERAL (
      (SELECT execution_id FROM execution WHERE device_no = device.device_no
         AND state > 'PENDING' AND state <= 'CANCELING' ORDER BY execution_id LIMIT enough)
      UNION ALL
      (${WAITING} AND priority > ${defaultPriority} ORDER BY priority DESC, execution_id LIMIT enough)
      UNION ALL
      (${WAITING} AND priority IS NULL ORDER BY execution_id LIMIT enough)
      UNION ALL
      (${WAITING} AND priority < ${defaultPriority} ORDER BY priority DESC, execution_id LIMIT enough)
      LIMIT enough) AS candidate ON true
  WHERE deleted_at IS NULL` as const
// Executions in reports that their devices must not begin.
const LIMITED = `
  SELECT execution_id AS "jobExecutionId", NOT ${isReleased.postgres} AS "isHeld",
    NOT (${isNotFrozen} AND ${isInWindow}) AS "mayNotStart"
  FROM unnest(CAST(:ids AS bigint[])) AS wanted (id) JOIN execution ON execution_id = wanted.id
  WHERE state = 'PENDING'` as const
const LIMIT = rows({ jobExecutionId: number(), isHeld: flag(), mayNotStart: flag() })
const CANDIDATE = rows({ position: number(), deviceNo: number(), jobExecutionId: orNull(number()) })

export function buildReportSteps(db: Database): Pick<Store, 'recordReports'> {
  /** By device. */
  const inOrder = new InOrder<string>()
  return {
    async recordReports(reports, options = { waitsForLocks: true }) {
      if (reports.length === 0) return []
      return inOrder.take(
        reports.map(({ device }) => deviceText(device)),
        (releaseTurn) =>
          db.inGroupTransaction(
            ({ named }) =>
              inBatch(named, async (moves) => {
                const group = new ReportGroup(named, moves, reports)
                const loaded = await group.lock()
                // Later steps on these executions wait for their locks.
                releaseTurn()
                return applyReports(moves.batch, loaded, reports.map(group.check))
              }),
            options,
          ),
        options.waitsForLocks ? undefined : lockWaitMs,
      )
    },
  }
}

/** `count`: the number of its reports in the group; `asks`: one of them requests the next execution. */
type OfDevice = { device: DeviceKey; count: number; asks: boolean }

class ReportGroup {
  readonly #queries: Queries
  readonly #moves: Moves
  readonly #reports: DeviceReport[]
  readonly #devices = new Map<string, OfDevice>()
  readonly #deviceNos = new Map<string, number>()
  readonly #limits = new Map<number, { isHeld: boolean; mayNotStart: boolean }>()

  constructor(queries: Queries, moves: Moves, reports: DeviceReport[]) {
    this.#queries = queries
    this.#moves = moves
    this.#reports = reports
    for (const { kind, device } of reports) {
      const key = deviceText(device)
      const before = this.#devices.get(key)
      const asks = before?.asks || kind === 'start-next'
      this.#devices.set(key, { device, count: (before?.count ?? 0) + 1, asks })
    }
  }

  readonly check = (report: DeviceReport) => ({
    report,
    deviceNo: this.#deviceNos.get(deviceText(report.device)),
    ...(report.kind === 'start-next' ? undefined : this.#limits.get(report.jobExecutionId)),
  })

  async lock(): Promise<LiveExecution[]> {
    const ids = this.#reports.flatMap((each) => (each.kind === 'start-next' ? [] : [each.jobExecutionId]))
    const devices = [...this.#devices.values()]
    const asking = devices.filter(({ asks }) => asks)
    const looking = this.#findCandidates(
      devices.map(({ device, count, asks }) => ({ device, enough: asks ? count : 0 })),
    )
    // All locks are taken in the same order, so candidates must be known first.
    const candidates = asking.length > 0 ? await looking : []
    const [locked] = await Promise.all([
      this.#moves.loadById([...ids, ...candidates]),
      looking,
      this.#findLimits(ids),
    ])
    return asking.length > 0 ? this.#lockMore(asking, locked, new Set(candidates)) : locked
  }

  async #findLimits(ids: number[]): Promise<void> {
    if (ids.length === 0) return
    for (const { jobExecutionId, ...limit } of await this.#queries.all(LIMIT, LIMITED, { ids })) {
      this.#limits.set(jobExecutionId, limit)
    }
  }

  /** Returns the ids of executions, and stores the numbers of the devices. */
  async #findCandidates(wanted: { device: DeviceKey; enough: number }[]): Promise<number[]> {
    const found = await this.#queries.all(CANDIDATE, CANDIDATES, {
      ...keysOf(wanted.map(({ device }) => device)),
      limits: wanted.map(({ enough }) => enough),
    })
    for (const { position, deviceNo } of found) {
      const device = wanted[position - 1]?.device
      if (device) this.#deviceNos.set(deviceText(device), deviceNo)
    }
    return found.flatMap(({ jobExecutionId }) => jobExecutionId ?? [])
  }

  /** Candidates may have ended before they were locked; then there may be more. */
  async #lockMore(asking: OfDevice[], locked: LiveExecution[], seen: Set<number>): Promise<LiveExecution[]> {
    const candidates = locked.filter(({ jobExecutionId }) => seen.has(jobExecutionId))
    const ofDevice = Map.groupBy(candidates, ({ deviceNo }) => deviceNo)
    const short = asking.flatMap(({ device, count }) => {
      const found = ofDevice.get(this.#deviceNos.get(deviceText(device)) ?? 0) ?? []
      const offered = found.filter(({ life }) => isOffered(life)).length
      return offered < count && offered < found.length ? [{ device, enough: count }] : []
    })
    if (short.length === 0) return locked
    const fresh = (await this.#findCandidates(short)).filter((id) => !seen.has(id))
    if (fresh.length === 0) return locked
    const more = await this.#moves.loadById(fresh)
    return this.#lockMore(asking, [...locked, ...more], new Set([...seen, ...fresh]))
  }
}
