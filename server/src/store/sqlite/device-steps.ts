// The steps for which memory says what waits for a device: it names the candidates, the database decides.

import { shownPending } from '@jobcast/contract/words'
import type { DeviceExecution, DeviceQueue } from '../../domain/device-report.ts'
import { isTerminal } from '../../domain/execution.ts'
import type { MoveWrites } from '../../domain/move-batch.ts'
import type { StoredFleetDevice } from '../../domain/ports/fleet.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import type { QueueQuestion } from './queues.ts'

/** How many of the oldest a device's next one is sought among; what was sent before may end some of them. */
const candidates = 100

/** The queues follow what is on disk. */
export function followMoves(
  catalogue: Catalogue,
  { moved, delayedIds }: Pick<MoveWrites, 'moved' | 'delayedIds'>,
): void {
  const delayed = new Set(delayedIds)
  for (const { ownerNo, deviceId, jobExecutionId, execState } of moved) {
    const queue = catalogue.devices(ownerNo).getOnDisk(deviceId)?.queue
    if (isTerminal(execState)) {
      queue?.leave(jobExecutionId)
      catalogue.hasEnded(jobExecutionId)
    } else if (delayed.has(jobExecutionId)) queue?.delay(jobExecutionId)
    else queue?.touch(jobExecutionId)
  }
}

type DeviceSteps = Pick<Store, 'recordReports' | 'readQueues' | 'getFleetLevels' | 'listFleetDevices'>

export function buildDeviceSteps(
  catalogue: Catalogue,
  writer: WriterThread,
  reader: ReaderThread,
): DeviceSteps {
  /** Whatever is in the queue and behind all that has begun has not begun. */
  function withWaiting(ownerNo: number, device: StoredFleetDevice): StoredFleetDevice {
    const newest = catalogue.devices(ownerNo).getOnDisk(device.deviceId)?.queue.newest
    if (newest === undefined || newest <= (device.lastExecution?.jobExecutionId ?? 0)) return device
    return { ...device, lastExecution: { jobExecutionId: newest, execState: 'PENDING' } }
  }

  return {
    async recordReports(reports) {
      const sent = reports.map((report) => {
        const device = catalogue.devices(report.device.ownerNo).get(report.device.deviceId)
        const waiting = report.kind === 'start-next' ? device?.queue.oldest(candidates) : undefined
        return { report, deviceNo: device?.deviceNo, waiting }
      })
      return writer.call('recordReports', sent)
    },
    async readQueues(wanted) {
      const views = wanted.map(({ ownerNo, deviceId, unlessMark }) =>
        viewOf(catalogue.devices(ownerNo).get(deviceId), unlessMark),
      )
      const questions = views.map((view) => (typeof view === 'object' ? view.question : undefined))
      const hasAny = questions.some((question) => question !== undefined)
      const found = hasAny ? await reader.call('readQueues', questions) : []
      return views.map((view, index) => (typeof view === 'object' ? toQueue(view, found[index] ?? []) : view))
    },
    async getFleetLevels({ ownerNo }) {
      const levels = await reader.call('readLevels', { ownerNo })
      return { devices: catalogue.devices(ownerNo).size, ...levels }
    },
    async listFleetDevices({ ownerNo, slice }) {
      const { items, next } = await reader.call('listFleetDevices', { ownerNo, slice })
      return { items: items.map((device) => withWaiting(ownerNo, device)), next }
    },
  }
}

/** A queue as memory has it; without a question where there is nothing to read. */
type QueueView = { mark: number; total: number; firstUnwritten: number; question: QueueQuestion | undefined }

function viewOf(
  device: DeviceRef | undefined,
  unlessMark: number | undefined,
): QueueView | 'unchanged' | undefined {
  if (device === undefined) return undefined
  const { deviceNo, queue } = device
  const { mark, firstUnwritten, offered: total } = queue
  if (mark === unlessMark) return 'unchanged'
  const question = total > 0 ? { deviceNo, waiting: queue.oldest(candidates) } : undefined
  return { mark, total, firstUnwritten, question }
}

/**
 * The database may be ahead of memory. What memory does not count yet is not shown, so that no run is seen in part;
 * and what is shown is all there is, unless it is as much as can be shown.
 */
function toQueue({ mark, total, firstUnwritten }: QueueView, found: DeviceExecution[]): DeviceQueue {
  const executions = found.filter(({ jobExecutionId }) => jobExecutionId < firstUnwritten)
  return { mark, total: found.length < shownPending ? executions.length : total, executions }
}
