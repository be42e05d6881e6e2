// A run on very many devices: its executions are written a batch at a time, under a draft, before the run itself is. What
// a crash leaves of a draft is erased after the next start. Ids were given when it began, so they are inserted into
// queues that may have grown meanwhile.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { actorOf } from '../../domain/access/caller.ts'
import {
  jobOf,
  namedDevices,
  newRun,
  refuseUnknownWindow,
  refuseUnplanned,
  toLaunchedRun,
} from '../../domain/trigger/launch-run.ts'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import type { LargeTrigger, TriggerOutcome } from '../../domain/trigger/trigger.ts'
import { insertInto } from '../queries.ts'
import { runDraft } from '../schema/tables.ts'
import type { Catalogue, DeviceRef, Settling } from './catalogue.ts'
import { isDiskFault, rollBack } from './database.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'
import { prepareNamed } from './named-queries.ts'
import { takeBack, withhold } from './trigger-group.ts'
import { INSERT_EXECUTIONS, type LastIds, readLastIds, SET_LAST_ID } from './triggers.ts'

/** A batch takes the writer about 3 ms. */
const batchSize = 2000
/** How many queues are filled before others get their turn. */
const queuesAtOnce = 5000

const ERASE_LATER = `
  INSERT INTO purged_range (first_execution_id, last_execution_id)
  SELECT first_execution_id, first_execution_id + total - 1 FROM run_draft`
const DROP = 'DELETE FROM run_draft'
const OF_RUN = 'WHERE run_id = :runId'
const LEFT = 'WHERE run_id <= :lastRunId'

type Draft = { runId: number; ownerNo: number; firstExecutionId: number; total: number; createdAt: number }
type DraftBatch = Pick<Draft, 'runId' | 'ownerNo' | 'firstExecutionId'> & { deviceNos: Int32Array }

/** For the writer. */
export function prepareDrafts(db: DatabaseSync) {
  const setLastId = prepareNamed(db, SET_LAST_ID)
  const insertDraft = prepareNamed(db, insertInto(runDraft.fields))
  const insertExecutions = db.prepare(INSERT_EXECUTIONS)
  const [eraseLater, drop] = [ERASE_LATER, DROP].map((sql) => prepareNamed(db, `${sql} ${OF_RUN}`))
  const [eraseLeft, dropLeft] = [ERASE_LATER, DROP].map((sql) => prepareNamed(db, `${sql} ${LEFT}`))
  const findLeft = prepareNamed(db, `SELECT 1 FROM run_draft ${LEFT} LIMIT 1`)
  const { runId: lastRunId } = readLastIds(db)
  return {
    beginDraft(draft: Draft): void {
      const { runId, ownerNo, firstExecutionId, total, createdAt } = draft
      setLastId.run({ runId, jobExecutionId: firstExecutionId + total - 1 })
      insertDraft.run({ runId, ownerNo, firstExecutionId, total, nodeNo: 0, createdAt })
    },
    addToDraft({ runId, ownerNo, firstExecutionId, deviceNos }: DraftBatch): void {
      insertExecutions.run(firstExecutionId, runId, ownerNo, `[${deviceNos.join(',')}]`)
    },
    /** What it has written is erased later. */
    dropDraft({ runId }: { runId: number }): void {
      eraseLater?.run({ runId })
      drop?.run({ runId })
    },
    /** Its run is there. */
    endDraft({ runId }: { runId: number }): void {
      drop?.run({ runId })
    },
    /** Those that the process before this one has left. */
    dropLeft(): void {
      if (findLeft.get({ lastRunId }) === undefined) return
      for (const statement of [eraseLeft, dropLeft]) statement?.run({ lastRunId })
    },
  }
}

/** At start: nobody is writing them any more. If the disk is full they stay, unseen, until a purge drops them. */
export function dropDrafts(db: DatabaseSync): void {
  if (db.prepare('SELECT 1 FROM run_draft LIMIT 1').get() === undefined) return
  try {
    db.exec(`BEGIN IMMEDIATE; ${ERASE_LATER}; ${DROP}; COMMIT`)
  } catch (error) {
    rollBack(db)
    if (!isDiskFault(error)) throw error
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
  const { ownerNo, jobName, deviceNos, launchedAt, clock, idempotency, request, values } = trigger
  const job = jobOf({ ...trigger, deviceIds: [] }, catalogue.jobs(ownerNo).get(jobName))
  if (job === undefined) return { kind: 'unknown-job' }
  const unplanned = refuseUnplanned({ ...trigger, deviceIds: [] }, job)
  if (unplanned) return unplanned
  const refuseWindow = () => refuseUnknownWindow(trigger, (...key) => catalogue.windows.has(...key))
  const noWindow = refuseWindow()
  if (noWindow) return noWindow
  const places = placesOf(deviceNos)
  const full = await findFull(catalogue, trigger, places)
  if (full.length > 0) return { kind: 'device-over-quota', deviceIds: full }
  const total = deviceNos.length
  const ids = { runId: ++lastIds.runId, firstExecutionId: lastIds.jobExecutionId + 1 }
  lastIds.jobExecutionId += total
  const run = newRun({ ...trigger, deviceIds: [] }, job, ids, total)
  withhold(catalogue, run)
  const settling = catalogue.beginSettling(ownerNo, ids.firstExecutionId, total, places)
  try {
    const after = await writer.call('beginDraft', { ...ids, ownerNo, total, createdAt: launchedAt })
    for (let start = 0; start < total; start += batchSize) {
      const batch = { ...ids, ownerNo, firstExecutionId: ids.firstExecutionId + start }
      await writer.call('addToDraft', { ...batch, deviceNos: deviceNos.slice(start, start + batchSize) })
    }
    // It may be deleted meanwhile, but not from now on: this write is sent before.
    const gone = refuseWindow()
    if (gone) {
      takeBack(catalogue, ids)
      await writer.call('dropDraft', ids)
      return gone
    }
    const recorded = await writer.call('finishDraft', {
      ...{ ...run, idempotency },
      ...{ ...(request && { request }), ...(values && { values }) },
      ...{ after, clock, actor: actorOf(trigger) },
    })
    if (recorded.kind === 'created') {
      await fillQueues(catalogue, settling)
      return { kind: 'created', run: toLaunchedRun(run, { ...trigger, deviceIds: [] }, []) }
    }
    takeBack(catalogue, ids)
    await writer.call('dropDraft', ids)
    if (recorded.kind !== 'made-before') return { kind: 'idempotency-key-reused' }
    return await replay(reader, recorded.runId)
  } catch (error) {
    takeBack(catalogue, ids)
    // If this fails as well, the next start does it.
    await writer.call('dropDraft', ids).catch(() => undefined)
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
function placesOf(deviceNos: Int32Array): Int32Array {
  const highest = deviceNos.reduce((most, deviceNo) => Math.max(most, deviceNo), 0)
  const places = new Int32Array(highest + 1)
  deviceNos.forEach((deviceNo, index) => {
    places[deviceNo] = index + 1
  })
  return places
}

/** Goes through all devices of the run, not in its order; others get their turn in between. */
async function eachDevice(
  catalogue: Catalogue,
  ownerNo: number,
  places: Int32Array,
  visit: (device: DeviceRef, place: number) => boolean,
): Promise<void> {
  let seen = 0
  for (const device of catalogue.devices(ownerNo).allOnDisk()) {
    const place = places[device.deviceNo] ?? 0
    if (place > 0 && !visit(device, place)) return
    if (++seen % queuesAtOnce === 0) await nextTurn()
  }
}

/** Some of the devices that may not have more. */
async function findFull(
  catalogue: Catalogue,
  { ownerNo, quota }: LargeTrigger,
  places: Int32Array,
): Promise<string[]> {
  const perDevice = quota?.perDevice ?? 0
  const full: string[] = []
  if (perDevice === 0) return full
  await eachDevice(catalogue, ownerNo, places, ({ deviceId, queue }) => {
    if (queue.all.length >= perDevice) full.push(deviceId)
    return full.length < namedDevices
  })
  return full
}

/** One that is deleted meanwhile and stays, because that fails, comes by twice. */
async function fillQueues(catalogue: Catalogue, { ownerNo, first, ended, places }: Settling): Promise<void> {
  await eachDevice(catalogue, ownerNo, places, ({ deviceNo, queue }, place) => {
    const jobExecutionId = first + place - 1
    if (!ended.has(jobExecutionId)) queue.insert(jobExecutionId)
    places[deviceNo] = 0
    return true
  })
}
