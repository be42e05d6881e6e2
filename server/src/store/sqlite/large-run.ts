// Runs on many devices, for the main thread: the writer is asked for one until all of it is written (draft-writer.ts). Ids are
// given when it begins, so those of a run by selector are inserted into queues that may have grown meanwhile.

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

/** How many queues are filled before others get their turn. */
const queuesAtOnce = 5000

/** All of it, or nothing that anybody sees. `refuse`: what has become of what it needs, between two batches. */
export async function writeLargeRun(
  writer: WriterThread,
  run: LargeRun,
  refuse: () => Refusal | undefined,
): Promise<RecordedTrigger | Refusal> {
  const { runId } = run
  try {
    let progress = await writer.call('writeRun', run)
    while (progress.kind === 'unfinished') {
      // Something may be deleted meanwhile, but not from now on: this write is sent before.
      const refusal = refuse()
      if (refusal) {
        await writer.call('dropDraft', { runId })
        return refusal
      }
      progress = await writer.call('continueRun', { runId })
    }
    return progress
  } catch (error) {
    // If this fails as well, the next start does it.
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
    if (recorded.kind === 'key-unknown') throw new Error(`run ${ids.runId} was not looked at`)
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

/** By the number of a device: its position in the run, from 1; 0: it is not among them. */
function positionsOf(deviceNos: Int32Array): Int32Array {
  const highest = deviceNos.reduce((most, deviceNo) => Math.max(most, deviceNo), 0)
  const positions = new Int32Array(highest + 1)
  deviceNos.forEach((deviceNo, index) => {
    positions[deviceNo] = index + 1
  })
  return positions
}

/** Goes through all devices of the run, not in its order; others get their turn in between. */
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

/** Some of the devices that may not have more. */
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

/** One that is deleted meanwhile and stays, because that fails, comes by twice. */
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
