// Steps that find the waiting executions of a device in memory: memory provides candidates, and the database decides.

import { shownPending } from '@jobcast/contract/words'
import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredFleetDevice } from '../../domain/device/ports/fleet.ts'
import type { DeviceExecution, DeviceQueue, DeviceReport } from '../../domain/execution/device-report.ts'
import { isTerminal } from '../../domain/execution/execution.ts'
import type { MoveWrites } from '../../domain/execution/move-batch.ts'
import type { ZoneChange } from '../queries.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import type { QueueQuestion } from './queues.ts'
import { packReport } from './report-message.ts'

/** The number of candidates for a device's next execution; earlier writes in progress may end some of them. */
const candidates = 100
/** More than the number of changes of a queue between two reads. */
const marksPerChange = 2 ** 32

/** The execution was not released, so its device cannot have received it. */
function isHeld({ held }: Catalogue, report: DeviceReport): boolean {
  return !held.isEmpty && report.kind !== 'start-next' && held.has(report.jobExecutionId)
}

/** A window of the run or the device is closed in the zone of the device. */
function isClosed(
  { windows, deviceWindows, zones }: Catalogue,
  device: DeviceRef | undefined,
  jobExecutionId: number,
): boolean {
  if (device === undefined || (windows.isEmpty && deviceWindows.isEmpty)) return false
  const zone = zones.of(device.deviceNo)
  return (
    windows.isClosed(jobExecutionId, zone) ||
    windows.isClosedFor(deviceWindows.of(device.deviceNo), zone)(jobExecutionId)
  )
}

function isOutside(catalogue: Catalogue, device: DeviceRef | undefined, report: DeviceReport): boolean {
  return report.kind !== 'start-next' && isClosed(catalogue, device, report.jobExecutionId)
}

/** Updates the queues after state changes are on disk. */
export function followMoves(
  catalogue: Catalogue,
  { moved, delayedIds }: Pick<MoveWrites, 'moved' | 'delayedIds'>,
): void {
  const delayed = new Set(delayedIds)
  for (const { ownerNo, deviceId, jobExecutionId, execState } of moved) {
    const device = catalogue.devices(ownerNo).getOnDisk(deviceId)
    const queue = device?.queue
    if (!catalogue.windows.isEmpty) catalogue.windows.follow(jobExecutionId, execState)
    if (device && !catalogue.deviceWindows.isEmpty)
      catalogue.deviceWindows.follow(device.deviceNo, jobExecutionId, execState)
    if (isTerminal(execState)) {
      catalogue.priorities.ended(jobExecutionId)
      queue?.leave(jobExecutionId)
      catalogue.hasEnded(jobExecutionId)
    } else if (delayed.has(jobExecutionId)) queue?.delay(jobExecutionId)
    else queue?.touch(jobExecutionId)
  }
}

/** Updates devices whose zone or windows have changed, which may change what they are offered. */
export function followZones(catalogue: Catalogue, changes: ZoneChange[]): void {
  for (const { ownerNo, deviceId, deviceNo, ...change } of changes) {
    if (change.windows === undefined) catalogue.zones.set(deviceNo, change.zone)
    else catalogue.deviceWindows.set(deviceNo, ownerNo, change.windows, change.begun ?? [])
    catalogue.devices(ownerNo).getOnDisk(deviceId)?.queue.changeZone()
  }
}

type DeviceSteps = Pick<
  Store,
  | 'recordReports'
  | 'readQueues'
  | 'hasUnfinished'
  | 'getDeviceExecution'
  | 'getFleetLevels'
  | 'listFleetDevices'
>

export function buildDeviceSteps(
  catalogue: Catalogue,
  writer: WriterThread,
  reader: ReaderThread,
): DeviceSteps {
  /** Executions in the queue after all that have begun are waiting. */
  function withWaiting(ownerNo: number, device: StoredFleetDevice): StoredFleetDevice {
    const newest = catalogue.devices(ownerNo).getOnDisk(device.deviceId)?.queue.newest
    if (newest === undefined || newest <= (device.lastExecution?.jobExecutionId ?? 0)) return device
    return { ...device, lastExecution: { jobExecutionId: newest, execState: 'PENDING' } }
  }

  return {
    async recordReports(reports) {
      const sent = reports.map((report) => {
        const device = catalogue.devices(report.device.ownerNo).get(report.device.deviceId)
        const isFrozen = catalogue.frozen.has(report.device.ownerNo)
        const mayNotStart = isFrozen || isOutside(catalogue, device, report)
        const limits = {
          ...(mayNotStart && { mayNotStart }),
          ...(isHeld(catalogue, report) && { isHeld: true }),
        }
        const first = () =>
          isFrozen || !device
            ? []
            : device.queue.first(candidates, catalogue.heldBackFrom(device.deviceNo), catalogue.priorities)
        const waiting = report.kind === 'start-next' ? first() : undefined
        return packReport({ report, deviceNo: device?.deviceNo, waiting, ...limits })
      })
      return writer.call('recordReports', sent)
    },
    async readQueues(wanted) {
      const views = wanted.map(({ ownerNo, deviceId, unlessMark }) =>
        viewOf(catalogue, ownerNo, catalogue.devices(ownerNo).get(deviceId), unlessMark),
      )
      const questions = views.map((view) => (typeof view === 'object' ? view.question : undefined))
      const hasAny = questions.some((question) => question !== undefined)
      const found = hasAny ? await reader.call('readQueues', questions) : []
      return views.map((view, index) => (typeof view === 'object' ? toQueue(view, found[index] ?? []) : view))
    },
    async hasUnfinished({ ownerNo, deviceId }) {
      return (catalogue.devices(ownerNo).get(deviceId)?.queue.all.length ?? 0) > 0
    },
    async getDeviceExecution(wanted) {
      const found = await reader.call('getDeviceExecution', wanted)
      const { ownerNo, deviceId, jobExecutionId } = wanted
      const device = catalogue.devices(ownerNo).get(deviceId)
      const isWithheld = catalogue.frozen.has(ownerNo) || isClosed(catalogue, device, jobExecutionId)
      return isWithheld && found?.execState === 'PENDING' ? undefined : found
    },
    async getFleetLevels(wanted) {
      const levels = await reader.call('readLevels', wanted)
      return { devices: catalogue.devices(wanted.ownerNo).size, ...levels }
    },
    async listFleetDevices(list) {
      const { items, next } = await reader.call('listFleetDevices', list)
      return { items: items.map((device) => withWaiting(list.ownerNo, device)), next }
    },
  }
}

/** A queue in memory; without a request if there is nothing to read. */
type QueueView = {
  mark: number
  total: number
  isUnwritten: (jobExecutionId: number) => boolean
  question: QueueQuestion | undefined
}

function viewOf(
  catalogue: Catalogue,
  ownerNo: number,
  device: DeviceRef | undefined,
  unlessMark: number | undefined,
): QueueView | 'unchanged' | undefined {
  if (device === undefined) return undefined
  const { frozen, freezeChanges, held, windows, deviceWindows } = catalogue
  const { deviceNo, queue } = device
  const isUnwritten = queue.unwritten()
  const isUnderWindow =
    deviceWindows.of(deviceNo) !== undefined ||
    (!windows.isEmpty && queue.all.some((id) => windows.isUnder(id)))
  const changes = (freezeChanges.get(ownerNo) ?? 0) + (isUnderWindow ? windows.changesOf(ownerNo) : 0)
  const mark = queue.mark(held) + changes * marksPerChange
  if (mark === unlessMark) return 'unchanged'
  const heldBack = catalogue.heldBackFrom(deviceNo)
  const total = queue.offered(heldBack)
  const waiting = () => (frozen.has(ownerNo) ? [] : queue.first(candidates, heldBack, catalogue.priorities))
  const question = total > 0 ? { deviceNo, waiting: waiting() } : undefined
  return { mark, total, isUnwritten, question }
}

/**
 * The database may be ahead of memory. Executions that are not counted in memory yet are omitted, so that no run is shown in part.
 * The result is complete, unless it has the maximum length.
 */
function toQueue({ mark, total, isUnwritten }: QueueView, found: DeviceExecution[]): DeviceQueue {
  const executions = found.filter(({ jobExecutionId }) => !isUnwritten(jobExecutionId))
  return { mark, total: found.length < shownPending ? executions.length : total, executions }
}
