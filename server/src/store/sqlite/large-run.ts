// Runs on many devices, in the main thread: requests to the writer are repeated until the run is written (draft-writer.ts). Ids are
// assigned at the beginning, so those of a run by selector are inserted into queues that may have grown meanwhile.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { actorOf } from '../../domain/access/caller.ts'
import {
  jobOf,
  namedDevices,
  newRun,
  type Refusal,
  refuseUnknownWindow,
  refuseUnplanned,
  toLaunchedRun,
} from '../../domain/trigger/launch-run.ts'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import type { LargeTrigger, TriggerOutcome } from '../../domain/trigger/trigger.ts'
import type { Catalogue, DeviceRef, Settling } from './catalogue.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import type { LargeRun } from './draft-writer.ts'
import { holdBack, undoHold } from './trigger-group.ts'
import type { LastIds, RecordedTrigger } from './triggers.ts'

/** Queues that are filled before the event loop is released. */
const queuesAtOnce = 5000

/** Atomic for readers. `refuse`: called between two batches, checks whether something that the run needs was deleted. */
export async function writeLargeRun(
  writer: WriterThread,
  run: LargeRun,
  refuse: () => Refusal | undefined,
): Promise<RecordedTrigger | Refusal> {
  const { runId } = run
  try {
    let progress = await writer.call('writeRun', run)
    while (progress.kind === 'unfinished') {
      // Something may have been deleted meanwhile, but later deletions follow this write.
      const refusal = refuse()
      if (refusal) {
        await writer.call('dropDraft', { runId })
        return refusal
      }
      progress = await writer.call('continueRun', { runId })
    }
    return progress
  } catch (error) {
    // If this fails as well, it is repeated at the next start.
    await writer.call('dropDraft', { runId }).catch(() => undefined)
    throw error
  }
}

export async function createLargeRun(
  {
    catalogue,
    lastIds,
    writer,
    reader,
  }: { catalogue: Catalogue; lastIds: LastIds; writer: WriterThread; reader: ReaderThread },
  trigger: LargeTrigger,
): Promise<TriggerOutcome> {
  const { ownerNo, jobName, deviceNos, clock, idempotency, request, values } = trigger
  const job = jobOf({ ...trigger, deviceIds: [] }, catalogue.jobs(ownerNo).get(jobName))
  if (job === undefined) return { kind: 'unknown-job' }
  const unplanned = refuseUnplanned({ ...trigger, deviceIds: [] }, job)
  if (unplanned) return unplanned
  const refuseWindow = () => refuseUnknownWindow(trigger, (...key) => catalogue.windows.has(...key))
  const noWindow = refuseWindow()
  if (noWindow) return noWindow
  const positions = positionsOf(deviceNos)
  const full = await findFull(catalogue, trigger, positions)
  if (full.length > 0) return { kind: 'device-over-quota', deviceIds: full }
  const total = deviceNos.length
  const ids = { runId: ++lastIds.runId, firstExecutionId: lastIds.jobExecutionId + 1 }
  lastIds.jobExecutionId += total
  const run = newRun({ ...trigger, deviceIds: [] }, job, ids, total)
  holdBack(catalogue, run)
  const settling = catalogue.beginSettling(ownerNo, ids.firstExecutionId, total, positions)
  try {
    const written = {
      ...{ ...run, deviceNos, idempotency, clock, actor: actorOf(trigger) },
      ...{ ...(request && { request }), ...(values && { values }) },
    }
    const recorded = await writeLargeRun(writer, written, refuseWindow)
    if (recorded.kind === 'created') {
      await fillQueues(catalogue, settling)
      return { kind: 'created', run: toLaunchedRun(run, { ...trigger, deviceIds: [] }, []) }
    }
    undoHold(catalogue, ids)
    if (recorded.kind === 'key-unknown') throw new Error(`run ${ids.runId} was not looked up`)
    return recorded.kind === 'made-before' ? await replay(reader, recorded.runId) : recorded
  } catch (error) {
    undoHold(catalogue, ids)
    throw error
  } finally {
    catalogue.endSettling(settling)
  }
}

function replay(reader: ReaderThread, runId: number): Promise<TriggerOutcome> {
  return reader.call('getLaunchedRun', { runId }).then(
    (run: LaunchedRun): TriggerOutcome => ({ kind: 'replayed', run }),
    (error: unknown): TriggerOutcome => ({ kind: 'unreadable', error }),
  )
}

/** Positions in the run, from 1, by device number; 0: not in the run. */
function positionsOf(deviceNos: Int32Array): Int32Array {
  const highest = deviceNos.reduce((most, deviceNo) => Math.max(most, deviceNo), 0)
  const positions = new Int32Array(highest + 1)
  deviceNos.forEach((deviceNo, index) => {
    positions[deviceNo] = index + 1
  })
  return positions
}

/** Visits all devices of the run in any order, and releases the event loop in between. */
async function eachDevice(
  catalogue: Catalogue,
  ownerNo: number,
  positions: Int32Array,
  visit: (device: DeviceRef, position: number) => boolean,
): Promise<void> {
  let seen = 0
  for (const device of catalogue.devices(ownerNo).allOnDisk()) {
    const position = positions[device.deviceNo] ?? 0
    if (position > 0 && !visit(device, position)) return
    if (++seen % queuesAtOnce === 0) await nextTurn()
  }
}

/** Some of the devices at the limit of unfinished executions. */
async function findFull(
  catalogue: Catalogue,
  { ownerNo, quota }: LargeTrigger,
  positions: Int32Array,
): Promise<string[]> {
  const perDevice = quota?.perDevice ?? 0
  const full: string[] = []
  if (perDevice === 0) return full
  await eachDevice(catalogue, ownerNo, positions, ({ deviceId, queue }) => {
    if (queue.all.length >= perDevice) full.push(deviceId)
    return full.length < namedDevices
  })
  return full
}

/** A device whose deletion fails meanwhile may be visited twice. */
async function fillQueues(
  catalogue: Catalogue,
  { ownerNo, first, ended, positions }: Settling,
): Promise<void> {
  await eachDevice(catalogue, ownerNo, positions, ({ deviceNo, queue }, position) => {
    const jobExecutionId = first + position - 1
    if (!ended.has(jobExecutionId)) queue.insert(jobExecutionId)
    positions[deviceNo] = 0
    return true
  })
}
