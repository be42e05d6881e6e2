// The store on one SQLite file: triggers find names in memory, one thread writes, one thread reads.

import { join } from 'node:path'
import type { Store } from '../../domain/common/ports/store.ts'
import { lowestOf } from '../../domain/device/lowest-id.ts'
import type { UnfinishedCount } from '../../domain/device/ports/fleet.ts'
import { batchSize } from '../../domain/execution/move-batch.ts'
import { heldFrom } from '../../domain/rollout/rollout.ts'
import { prepareDataFolder } from '../data-folder.ts'
import { readMigrations } from '../migrate.ts'
import { hasSelector, selectionSnapshots } from '../tables/device-selection.ts'
import { runFailureSnapshots } from '../tables/run-failures.ts'
import { runsWithinSnapshots } from '../tables/runs-within.ts'
import type { Bound } from '../tables/step.ts'
import { type Catalogue, loadCatalogue } from './catalogue.ts'
import { Checkpointer } from './checkpointer.ts'
import { buildTriggerSteps } from './create-executions.ts'
import { migrateDatabase, openDatabaseIn } from './database.ts'
import { DatabaseThread, LazyThread, type ReaderThread, type WriterThread } from './database-thread.ts'
import { buildDeviceSteps, followMoves, followZones } from './device-steps.ts'
import { dropDrafts } from './draft-writer.ts'
import { createLargeRun } from './large-run.ts'
import { lockData } from './lock-data.ts'
import { plainReads, plainWrites, type Reads, type Writes } from './operations.ts'
import { type LastIds, readLastIds } from './triggers.ts'
import { buildWindowSteps } from './window-steps.ts'

export const sqliteMigrations = () => readMigrations(new URL('migrations/', import.meta.url))

/** Waiting executions of one device that a page of its list covers. */
const waitingPerPage = 5000

type SqliteStoreOptions = {
  folder: string
  /** Called if a thread of the store ended unexpectedly: the process cannot continue. */
  onLost: (error: Error) => void
}

export function openSqliteStore({ folder, onLost }: SqliteStoreOptions): Store {
  prepareDataFolder(folder)
  const lock = lockData(folder)
  try {
    const { catalogue, lastIds } = loadMemory(folder)
    const path = join(folder, 'jobcast.db')
    const writer = new DatabaseThread<Writes>('writer', path, onLost)
    const reader = new DatabaseThread<Reads>('reader', path, onLost)
    // Selectors may read all devices, so they have a separate thread, and other readers do not wait for them.
    const scanner = new LazyThread(() => new DatabaseThread<Reads>('scanner', path, onLost))
    const checkpointer = new Checkpointer(path)
    writer.onLongLog = () => void shortenLog(checkpointer, writer)
    const onClosed = async () => {
      await checkpointer.close()
      lock.release()
    }
    return buildSqliteStore({ catalogue, lastIds, writer, reader, scanner, onClosed })
  } catch (error) {
    lock.release()
    throw error
  }
}

/** If this fails, the log remains until it is longer; committed data is on disk in both cases. */
async function shortenLog(checkpointer: Checkpointer, writer: WriterThread): Promise<void> {
  await checkpointer.checkpoint()
  await writer.call('checkpoint', undefined).catch(() => undefined)
}

function loadMemory(folder: string): { catalogue: Catalogue; lastIds: LastIds } {
  const db = openDatabaseIn(folder)
  try {
    migrateDatabase(db, sqliteMigrations())
    dropDrafts(db)
    return { catalogue: loadCatalogue(db), lastIds: readLastIds(db) }
  } finally {
    db.close()
  }
}

export type StoreParts = {
  catalogue: Catalogue
  lastIds: LastIds
  writer: WriterThread
  reader: ReaderThread
  /** The thread for selectors; default: the reader. */
  scanner?: ReaderThread
  /** The number of devices from which a trigger is large; default: `largeTrigger`. */
  largeFrom?: number
  onClosed: () => void | Promise<void>
}

export function buildSqliteStore(parts: StoreParts): Store {
  const { catalogue, lastIds, writer, reader, scanner = reader, largeFrom, onClosed } = parts
  const eventListeners: (() => void)[] = []
  writer.listener = {
    onEvents() {
      for (const listener of eventListeners) listener()
    },
    onMoved: (moves) => followMoves(catalogue, moves),
    onZones: (changes) => followZones(catalogue, changes),
  }
  return {
    ...releaseTurn(reader, plainReads),
    ...releaseTurn(scanner, selectionSnapshots),
    ...releaseTurn(scanner, runFailureSnapshots),
    ...releaseTurn(scanner, runsWithinSnapshots),
    ...buildCountSteps(reader, scanner),
    countUnfinished: (of) => countUnfinished(catalogue, scanner, of),
    listDevices: (list) =>
      hasSelector(list) ? scanner.call('listSelected', list) : reader.call('listDevices', list),
    ...releaseTurn(writer, plainWrites),
    ...buildKeySteps(catalogue, writer),
    ...buildNameSteps(catalogue, writer),
    ...buildDeviceSteps(catalogue, writer, reader),
    ...buildRolloutSteps(catalogue, writer),
    ...buildWindowSteps(catalogue, writer),
    ...buildTriggerSteps({ catalogue, lastIds, writer, reader, largeFrom }),
    ...buildExecutionSteps(catalogue, lastIds, writer, reader),
    checkHealth: () => writer.call('probeWrite', undefined),
    fireClocks: (moment) => writer.call('fireClocks', moment),
    purgeRuns: (age) => writer.call('purgeRuns', age),
    eraseLeftovers: () => writer.call('eraseLeftovers', undefined),
    onEvents(listener) {
      eventListeners.push(listener)
    },
    async close() {
      await Promise.all([writer.close(), reader.close(), scanner.close()])
      await onClosed()
    },
  }
}

type PlainSteps =
  | typeof plainReads
  | typeof plainWrites
  | typeof selectionSnapshots
  | typeof runFailureSnapshots
  | typeof runsWithinSnapshots

/** Passes steps without in-memory state directly to their thread. */
function releaseTurn<Steps extends PlainSteps>(
  thread: ReaderThread | WriterThread,
  steps: Steps,
): Bound<Steps> {
  const call = thread.call.bind(thread) as (name: string, input: unknown) => Promise<unknown>
  const passed = Object.keys(steps).map((name) => [name, (input: unknown) => call(name, input)])
  return Object.fromEntries(passed)
}

/** Runs with more executions would occupy the reader too long. */
const countedByReader = 20_000

/** Steps that read a part of a run; for a large run they do not block other readers. */
function buildCountSteps(
  reader: ReaderThread,
  scanner: ReaderThread,
): Pick<Store, 'countRunParts' | 'countOffline' | 'countConfirmed' | 'listEndedPart'> {
  const threadOf = (...parts: { from: number; to: number }[]) =>
    parts.reduce((sum, { from, to }) => sum + to - from, 0) > countedByReader ? scanner : reader
  return {
    countRunParts: (run) => threadOf(...run.parts).call('countRunParts', run),
    countOffline: (part) => threadOf(part).call('countOffline', part),
    countConfirmed: (part) => threadOf(part).call('countConfirmed', part),
    listEndedPart: (part) => threadOf({ from: part.first, to: part.last }).call('listEndedPart', part),
  }
}

/** Ids that one call reads. */
const idsPerCall = 20_000

async function countUnfinished(
  catalogue: Catalogue,
  scanner: ReaderThread,
  { ownerNo, devices, ...ofJobs }: Parameters<Store['countUnfinished']>[0],
): Promise<UnfinishedCount> {
  const known = catalogue.devices(ownerNo)
  const all = devices.flatMap(({ deviceId }) => catalogue.unfinishedOf(ownerNo, known.getOnDisk(deviceId)))
  const sum: UnfinishedCount = { waiting: 0, running: 0, oldestWaitingId: undefined }
  for (let start = 0; start < all.length; start += idsPerCall) {
    const ids = all.slice(start, start + idsPerCall)
    const { waiting, running, oldestWaitingId } = await scanner.call('countUnfinished', {
      ownerNo,
      ids,
      ...ofJobs,
    })
    sum.waiting += waiting
    sum.running += running
    sum.oldestWaitingId = lowestOf(sum.oldestWaitingId, oldestWaitingId)
  }
  return sum
}

type KeySteps = Pick<
  Store,
  | 'createFirstKey'
  | 'createApiKey'
  | 'putPersonKey'
  | 'findApiKey'
  | 'cachedApiKey'
  | 'revokeApiKey'
  | 'recordKeyUse'
>

/** Keys are in memory, because each call of the API looks one up. */
function buildKeySteps({ apiKeys }: Catalogue, writer: WriterThread): KeySteps {
  return {
    async createFirstKey(first) {
      const stored = await writer.call('createFirstKey', first)
      if (stored) apiKeys.set(stored.keyId, stored)
      return stored !== undefined
    },
    async createApiKey(key) {
      const stored = await writer.call('createApiKey', key)
      if (stored) apiKeys.set(stored.keyId, stored)
      return stored
    },
    async putPersonKey(key) {
      const stored = await writer.call('putPersonKey', key)
      apiKeys.set(stored.keyId, stored)
      return stored
    },
    findApiKey: ({ keyId }) => apiKeys.get(keyId),
    cachedApiKey: () => undefined,
    async revokeApiKey(revocation) {
      const outcome = await writer.call('revokeApiKey', revocation)
      if (outcome.kind !== 'revoked') return outcome
      for (const keyId of outcome.keyIds) {
        const key = apiKeys.get(keyId)
        if (key) key.revokedAt = revocation.at
      }
      return outcome
    },
    async recordKeyUse(uses) {
      await writer.call('recordKeyUse', uses)
      for (const { keyId, at } of uses) {
        const key = apiKeys.get(keyId)
        if (key) key.lastUsedAt = at
      }
    },
  }
}

type NameSteps = Pick<Store, 'putJob' | 'deleteJob' | 'putDevices' | 'deleteDevice' | 'enrollDevice'>

/** Steps that add or remove jobs and devices. */
function buildNameSteps(catalogue: Catalogue, writer: WriterThread): NameSteps {
  return {
    async putJob(put) {
      const { ref, ...result } = await writer.call('putJob', put)
      if (ref) catalogue.jobs(put.ownerNo).set(put.jobName, ref)
      return result
    },
    deleteJob(job) {
      const write = () => writer.call('deleteJob', job)
      return catalogue
        .jobs(job.ownerNo)
        .remove(job.jobName, write, (answer) => answer === 'deleted' || answer === 'unknown')
    },
    async putDevices(puts) {
      const results = await catalogue.putDevices(puts, () => writer.call('putDevices', puts))
      return results.map(({ deviceNo: _, ...put }) => put)
    },
    deleteDevice(device) {
      const devices = catalogue.devices(device.ownerNo)
      const unfinishedIds = catalogue.unfinishedOf(device.ownerNo, devices.getOnDisk(device.deviceId))
      const write = () => writer.call('deleteDevice', { ...device, unfinishedIds })
      return devices.remove(device.deviceId, write)
    },
    async enrollDevice(enrolling) {
      const { made, ...outcome } = await writer.call('enrollDevice', enrolling)
      if (made) catalogue.setDevice(made)
      return outcome
    },
  }
}

type RolloutSteps = Pick<Store, 'changeRollout' | 'freezeFleet' | 'unfreezeFleet'>

/** Steps that change what may be offered; memory is updated when the change is on disk. */
function buildRolloutSteps(catalogue: Catalogue, writer: WriterThread): RolloutSteps {
  return {
    async changeRollout(change) {
      const isChanged = await writer.call('changeRollout', change)
      const { before, status, isOver } = change
      if (isChanged) catalogue.held.release(before.runId, isOver ? null : heldFrom({ ...before, status }))
      return isChanged
    },
    async freezeFleet(freeze) {
      const isNew = await writer.call('freezeFleet', freeze)
      catalogue.setFrozen(freeze.ownerNo, true)
      return isNew
    },
    async unfreezeFleet(freeze) {
      const isOver = await writer.call('unfreezeFleet', freeze)
      if (isOver) catalogue.setFrozen(freeze.ownerNo, false)
      return isOver
    },
  }
}

function buildExecutionSteps(
  catalogue: Catalogue,
  lastIds: LastIds,
  writer: WriterThread,
  reader: ReaderThread,
): Pick<Store, 'createLargeRun' | 'listExecutions' | 'removeGone'> {
  return {
    async removeGone(gone) {
      const leftIds = catalogue.left.slice(0, batchSize)
      if (leftIds.length === 0) return []
      const moved = await writer.call('removeGone', { ...gone, leftIds })
      catalogue.left.splice(0, leftIds.length)
      return moved
    },
    createLargeRun: (trigger) => createLargeRun({ catalogue, lastIds, writer, reader }, trigger),
    listExecutions({ ownerNo, filter, slice: { after, limit } }) {
      // Later runs are omitted, so that none is shown in part.
      const before = Math.min(after ?? Number.MAX_SAFE_INTEGER, lastIds.jobExecutionId + 1)
      const { deviceId } = filter
      const device = deviceId === undefined ? undefined : catalogue.devices(ownerNo).getOnDisk(deviceId)
      const waiting = device?.queue.newestBelow(before, waitingPerPage) ?? { ids: [], complete: true }
      return reader.call('listExecutions', { ownerNo, filter, slice: { after: before, limit }, waiting })
    },
  }
}
