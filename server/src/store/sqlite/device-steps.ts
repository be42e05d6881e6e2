// The steps that move executions, or look at what waits for a device: memory names the candidates, the database
// decides, and memory follows once it has.

import { shownPending } from '@jobcast/contract/words'
import type { DeviceExecution, DeviceQueue, DeviceReport, ReportOutcome } from '../../domain/device-report.ts'
import { isTerminal } from '../../domain/execution.ts'
import type { Moved } from '../../domain/ports/executions.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import type { MovedExecution } from './moves.ts'
import type { QueueQuestion } from './queues.ts'
import type { RecordedReport, SentReport } from './reports.ts'

/** How many of the oldest a device's next one is sought among; what was sent before may end some of them. */
const candidates = 100

type DeviceSteps = Pick<
  Store,
  'moveExecution' | 'moveRun' | 'fireClocks' | 'recordReports' | 'readQueues' | 'getDeviceExecution'
>

export function buildDeviceSteps(
  catalogue: Catalogue,
  writer: WriterThread,
  reader: ReaderThread,
): DeviceSteps {
  function follow({ delayed, ...moved }: MovedExecution): Moved {
    const queue = catalogue.devices(moved.ownerNo).getOnDisk(moved.deviceId)?.queue
    if (isTerminal(moved.execState)) queue?.leave(moved.jobExecutionId)
    else if (delayed) queue?.delay(moved.jobExecutionId)
    else queue?.touch(moved.jobExecutionId)
    return moved
  }

  function toOutcome(recorded: RecordedReport): ReportOutcome {
    if (recorded.kind !== 'done' || recorded.moved === undefined) return recorded
    return { ...recorded, moved: follow(recorded.moved) }
  }

  return {
    async moveExecution(move) {
      const outcome = await writer.call('moveExecution', move)
      if (outcome.kind !== 'moved') return outcome
      const { moved, ...rest } = outcome
      if (moved) follow(moved)
      return rest
    },
    async moveRun(move) {
      const answer = await writer.call('moveRun', move)
      return answer && { ...answer, moved: answer.moved.map(follow) }
    },
    async fireClocks(moment) {
      const { moved, more } = await writer.call('fireClocks', moment)
      return { moved: moved.map(follow), more }
    },

    async recordReports(reports) {
      const checked = reports.map((report) => {
        const { ownerNo, deviceId } = report.device
        return check(report, catalogue.devices(ownerNo).get(deviceId))
      })
      const sent = checked.filter((report) => report !== undefined)
      const recorded = sent.length === 0 ? [] : await writer.call('recordReports', sent)
      let next = 0
      return checked.map((report) =>
        report === undefined ? { kind: 'unknown-device' } : toOutcome(recorded[next++] as RecordedReport),
      )
    },
    async readQueues(wanted) {
      const looks = wanted.map(({ ownerNo, deviceId, unlessMark }) =>
        look(catalogue.devices(ownerNo).get(deviceId), unlessMark),
      )
      const asking = looks.filter(
        (look) => typeof look === 'object' && look.question !== undefined,
      ) as Asking[]
      const answers =
        asking.length === 0
          ? []
          : await reader.call(
              'readQueues',
              asking.map((look) => look.question),
            )
      const executionsOf = new Map(asking.map((look, index) => [look as Look, answers[index] ?? []]))
      return looks.map((look) =>
        typeof look === 'object' ? toQueue(look, executionsOf.get(look) ?? []) : look,
      )
    },
    async getDeviceExecution({ ownerNo, deviceId, jobExecutionId }) {
      const device = catalogue.devices(ownerNo).get(deviceId)
      return device && reader.call('getDeviceExecution', { deviceNo: device.deviceNo, jobExecutionId })
    },
  }
}

type Look = { mark: number; total: number; firstUnwritten: number; question: QueueQuestion | undefined }
type Asking = Look & { question: QueueQuestion }

/** Memory knows whether there is anything to read. */
function look(device: DeviceRef | undefined, unlessMark: number | undefined): Look | 'unchanged' | undefined {
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
function toQueue({ mark, total, firstUnwritten }: Look, found: DeviceExecution[]): DeviceQueue {
  const executions = found.filter(({ jobExecutionId }) => jobExecutionId < firstUnwritten)
  return { mark, total: found.length < shownPending ? executions.length : total, executions }
}

function check(report: DeviceReport, device: DeviceRef | undefined): SentReport | undefined {
  if (device === undefined) return undefined
  const { deviceNo, queue } = device
  return report.kind === 'start-next'
    ? { report, deviceNo, waiting: queue.oldest(candidates) }
    : { report, deviceNo }
}
