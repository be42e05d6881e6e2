// The store on one SQLite file: memory answers what a trigger asks, one thread writes, one thread reads.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isTerminal } from '../../domain/execution.ts'
import type { DevicePut, Store } from '../../domain/store.ts'
import { readMigrations } from '../migrate.ts'
import { type Catalogue, loadCatalogue } from './catalogue.ts'
import { migrateDatabase, openDatabase } from './database.ts'
import { DatabaseThread, type ReaderThread, type WriterThread } from './database-thread.ts'
import { lockData } from './lock-data.ts'
import { type LastIds, leaveQueue, TriggerGroup } from './trigger-group.ts'
import { prepareTriggers } from './triggers.ts'

export const sqliteMigrations = () => readMigrations(new URL('migrations/', import.meta.url))

/** Of what waits for one device, how much one page of its list looks at. */
const waitingPerPage = 5000

export type SqliteStoreOptions = {
  folder: string
  /** A thread of the store ended by itself: the process cannot go on. */
  onLost: (error: Error) => void
}

export function openSqliteStore({ folder, onLost }: SqliteStoreOptions): Store {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockData(folder)
  try {
    const path = join(folder, 'jobcast.db')
    const db = openDatabase(path)
    migrateDatabase(db, sqliteMigrations())
    const catalogue = loadCatalogue(db)
    const lastIds = prepareTriggers(db).lastIds()
    db.close()
    const writer: WriterThread = new DatabaseThread('writer', path, onLost)
    const reader: ReaderThread = new DatabaseThread('reader', path, onLost)
    return buildStore(catalogue, lastIds, writer, reader, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

function buildStore(
  catalogue: Catalogue,
  lastIds: LastIds,
  writer: WriterThread,
  reader: ReaderThread,
  releaseLock: () => void,
): Store {
  return {
    checkHealth: () => writer.call('probeWrite', undefined),

    createOwner: (owner) => writer.call('createOwner', owner),
    findOwner: (ownerId) => reader.call('findOwner', ownerId),
    listOwners: (slice) => reader.call('listOwners', slice),

    async createApiKey(key) {
      const stored = await writer.call('createApiKey', key)
      catalogue.apiKeys.set(stored.keyId, stored)
      return stored
    },
    findApiKey: (keyId) => catalogue.apiKeys.get(keyId),
    listApiKeys: (ownerNo, slice) => reader.call('listApiKeys', { ownerNo, slice }),
    async revokeApiKey(ownerNo, keyId, at) {
      const revoked = await writer.call('revokeApiKey', { ownerNo, keyId, at })
      const key = catalogue.apiKeys.get(keyId)
      if (revoked && key) key.revokedAt ??= at
      return revoked
    },
    recordKeyUse: (uses) => writer.call('recordKeyUse', uses),

    async putJob(put) {
      const { ref, ...result } = await writer.call('putJob', put)
      catalogue.jobs(put.ownerNo).set(put.jobName, ref)
      return result
    },
    getJob: (ownerNo, jobName) => reader.call('getJob', { ownerNo, jobName }),
    listJobs: (ownerNo, slice) => reader.call('listJobs', { ownerNo, slice }),
    async deleteJob(ownerNo, jobName, at) {
      const jobs = catalogue.jobs(ownerNo)
      const ref = jobs.get(jobName)
      jobs.delete(jobName)
      try {
        return await writer.call('deleteJob', { ownerNo, jobName, at })
      } catch (error) {
        if (ref && !jobs.has(jobName)) jobs.set(jobName, ref)
        throw error
      }
    },

    async putDevices(puts) {
      const takeBack = renameKnown(catalogue, puts)
      try {
        const results = await writer.call('putDevices', puts)
        return results.map(({ deviceNo, ...result }, index) => {
          catalogue.setDevice({ ...(puts[index] as DevicePut), deviceNo })
          return result
        })
      } catch (error) {
        takeBack()
        throw error
      }
    },
    getDevice: (ownerNo, deviceId) => reader.call('getDevice', { ownerNo, deviceId }),
    listDevices: (ownerNo, { tag }, slice) => reader.call('listDevices', { ownerNo, tag, slice }),
    async deleteDevice(ownerNo, deviceId, at) {
      const devices = catalogue.devices(ownerNo)
      const ref = devices.get(deviceId)
      devices.delete(deviceId)
      try {
        const unfinishedIds = ref?.unfinished ?? []
        return await writer.call('deleteDevice', { ownerNo, deviceId, unfinishedIds, at })
      } catch (error) {
        if (ref && !devices.has(deviceId)) devices.set(deviceId, ref)
        throw error
      }
    },
    setDeviceToken: (ownerNo, deviceId, token) => writer.call('setDeviceToken', { ownerNo, deviceId, token }),

    async createExecutions(triggers) {
      const group = new TriggerGroup(catalogue, lastIds, triggers)
      const { checked } = group
      if (checked.length === 0) return group.outcomes([])
      try {
        return group.outcomes(await writer.call('recordTriggers', checked))
      } catch (error) {
        group.takeBack()
        throw error
      }
    },
    getExecution: (ownerNo, jobExecutionId) => reader.call('getExecution', { ownerNo, jobExecutionId }),
    listExecutions(ownerNo, filter, slice) {
      const { deviceId } = filter
      const queue = deviceId === undefined ? [] : catalogue.devices(ownerNo).get(deviceId)?.unfinished
      const waiting = newestBelow(queue ?? [], slice.after)
      return reader.call('listExecutions', { ownerNo, filter, slice, waiting })
    },
    async moveExecution(move) {
      const outcome = await writer.call('moveExecution', move)
      if (outcome.kind === 'moved' && isTerminal(outcome.execution.execState)) {
        const device = catalogue.devices(move.ownerNo).get(outcome.execution.deviceId)
        if (device) leaveQueue(device.unfinished, move.jobExecutionId)
      }
      return outcome
    },

    getRun: (ownerNo, runId) => reader.call('getRun', { ownerNo, runId }),
    listRuns: (ownerNo, { jobName }, slice) => reader.call('listRuns', { ownerNo, jobName, slice }),

    async forgetIdempotencyKeys(olderThan) {
      while (await writer.call('forgetIdempotencyKeys', olderThan));
    },
    async close() {
      await Promise.all([writer.close(), reader.close()])
      releaseLock()
    },
  }
}

/** New names count from when they are sent: executions sent after them carry them. */
function renameKnown(catalogue: Catalogue, puts: DevicePut[]): () => void {
  const before = puts.flatMap(({ ownerNo, deviceId }) => {
    const known = catalogue.devices(ownerNo).get(deviceId)
    return known ? [{ ownerNo, ...known }] : []
  })
  for (const put of puts) {
    const known = catalogue.devices(put.ownerNo).get(put.deviceId)
    if (known) catalogue.setDevice({ ...put, deviceNo: known.deviceNo })
  }
  return () => {
    for (const device of before) catalogue.setDevice(device)
  }
}

function newestBelow(queue: readonly number[], before: number | undefined) {
  // Ids only grow, so the queue is sorted; the end that matters is its newest.
  let end = queue.length
  while (before !== undefined && end > 0 && (queue[end - 1] as number) >= before) end--
  const start = Math.max(0, end - waitingPerPage)
  return { ids: queue.slice(start, end).reverse(), complete: start === 0 }
}
