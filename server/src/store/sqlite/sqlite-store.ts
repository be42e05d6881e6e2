// The store on one SQLite file: memory answers what a trigger asks, one thread writes, one thread reads.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../domain/store.ts'
import { readMigrations } from '../migrate.ts'
import { type Catalogue, loadCatalogue } from './catalogue.ts'
import { migrateDatabase, openDatabase } from './database.ts'
import { DatabaseThread, type ReaderThread, type WriterThread } from './database-thread.ts'
import { buildDeviceSteps } from './device-steps.ts'
import { buildFleetSteps } from './fleet-steps.ts'
import { lockData } from './lock-data.ts'
import { type LastIds, TriggerGroup } from './trigger-group.ts'
import { prepareTriggers } from './triggers.ts'
import { buildWebhookSteps } from './webhook-steps.ts'

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
    const { catalogue, lastIds } = loadMemory(path)
    const writer: WriterThread = new DatabaseThread('writer', path, onLost)
    const reader: ReaderThread = new DatabaseThread('reader', path, onLost)
    return buildStore(catalogue, lastIds, writer, reader, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

function loadMemory(path: string): { catalogue: Catalogue; lastIds: LastIds } {
  const db = openDatabase(path)
  try {
    migrateDatabase(db, sqliteMigrations())
    return { catalogue: loadCatalogue(db), lastIds: prepareTriggers(db).lastIds() }
  } finally {
    db.close()
  }
}

function buildStore(
  catalogue: Catalogue,
  lastIds: LastIds,
  writer: WriterThread,
  reader: ReaderThread,
  releaseLock: () => void,
): Store {
  const eventListeners: (() => void)[] = []
  writer.onEvents = () => {
    for (const listener of eventListeners) listener()
  }
  return {
    checkHealth: () => writer.call('probeWrite', undefined),

    createOwner: (owner) => writer.call('createOwner', owner),
    findOwner: (ownerId) => reader.call('findOwner', ownerId),
    listOwners: (slice) => reader.call('listOwners', slice),

    async createFirstKey(owner, key) {
      const stored = await writer.call('createFirstKey', { owner, key })
      if (stored) catalogue.apiKeys.set(stored.keyId, stored)
      return stored !== undefined
    },
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
    async recordKeyUse(uses) {
      await writer.call('recordKeyUse', uses)
      for (const { keyId, at } of uses) {
        const key = catalogue.apiKeys.get(keyId)
        if (key) key.lastUsedAt = at
      }
    },

    async putJob(put) {
      const { ref, ...result } = await writer.call('putJob', put)
      catalogue.jobs(put.ownerNo).set(put.jobName, ref)
      return result
    },
    getJob: (ownerNo, jobName) => reader.call('getJob', { ownerNo, jobName }),
    listJobs: (ownerNo, slice) => reader.call('listJobs', { ownerNo, slice }),
    deleteJob(ownerNo, jobName, at) {
      const write = () => writer.call('deleteJob', { ownerNo, jobName, at })
      return catalogue.jobs(ownerNo).remove(jobName, write)
    },

    async putDevices(puts) {
      const results = await catalogue.putDevices(puts, () => writer.call('putDevices', puts))
      return results.map(({ created, value }) => ({ created, value }))
    },
    getDevice: (ownerNo, deviceId) => reader.call('getDevice', { ownerNo, deviceId }),
    listDevices: (ownerNo, { tag, online }, slice) =>
      reader.call('listDevices', { ownerNo, tag, online, slice }),
    async deleteDevice(ownerNo, deviceId, moment, actor) {
      const devices = catalogue.devices(ownerNo)
      const unfinishedIds = [...(devices.getOnDisk(deviceId)?.queue.all ?? [])]
      const write = () => writer.call('deleteDevice', { ownerNo, deviceId, unfinishedIds, moment, actor })
      return devices.remove(deviceId, write)
    },
    setDeviceToken: (ownerNo, deviceId, token, at) =>
      writer.call('setDeviceToken', { ownerNo, deviceId, token, at }),
    findDeviceByToken: (tokenId) => reader.call('findDeviceByToken', tokenId),
    findDeviceByCertificate: (ownerName, deviceId) =>
      reader.call('findDeviceByCertificate', { ownerName, deviceId }),

    createEnrollment: (enrollment) => writer.call('createEnrollment', enrollment),
    findEnrollment: (enrollmentId) => reader.call('findEnrollment', enrollmentId),
    listEnrollments: (ownerNo, slice) => reader.call('listEnrollments', { ownerNo, slice }),
    revokeEnrollment: (ownerNo, enrollmentId, at) =>
      writer.call('revokeEnrollment', { ownerNo, enrollmentId, at }),
    async enrollDevice(enrolling) {
      const { made, ...outcome } = await writer.call('enrollDevice', enrolling)
      if (made) catalogue.setDevice(made)
      return outcome
    },

    recordPresence: (changes) => writer.call('recordPresence', changes),
    forgetConnections: (at) => writer.call('forgetConnections', at),

    async createExecutions(triggers) {
      const group = new TriggerGroup(catalogue, lastIds, triggers)
      const { questions } = group
      const recorded =
        questions.length === 0
          ? []
          : await writer.call('recordTriggers', questions).catch((error: unknown) => {
              group.takeBack()
              throw error
            })
      return group.outcomes(recorded, (runId) => reader.call('getLaunchedRun', runId))
    },
    getExecution: (ownerNo, jobExecutionId) => reader.call('getExecution', { ownerNo, jobExecutionId }),
    listExecutions(ownerNo, filter, { after, limit }) {
      // What is launched from now on is left out, so that it cannot be seen in part.
      const before = Math.min(after ?? Number.MAX_SAFE_INTEGER, lastIds.jobExecutionId + 1)
      const { deviceId } = filter
      const device = deviceId === undefined ? undefined : catalogue.devices(ownerNo).getOnDisk(deviceId)
      const waiting = device?.queue.newestBelow(before, waitingPerPage) ?? { ids: [], complete: true }
      return reader.call('listExecutions', { ownerNo, filter, before, limit, waiting })
    },
    ...buildDeviceSteps(catalogue, writer, reader),
    listTransitions: (ownerNo, jobExecutionId) => reader.call('listTransitions', { ownerNo, jobExecutionId }),
    readOutput: (ownerNo, jobExecutionId, slice) =>
      reader.call('readOutput', { ownerNo, jobExecutionId, ...slice }),
    getDocument: (jobVersion) => reader.call('getDocument', jobVersion),
    recordDeliveries: (deliveries) => writer.call('recordDeliveries', deliveries),

    getRun: (ownerNo, runId) => reader.call('getRun', { ownerNo, runId }),
    listRuns: (ownerNo, { jobName, finished }, slice) =>
      reader.call('listRuns', { ownerNo, jobName, finished, slice }),
    listUnsuccessful: (ownerNo, runId) => reader.call('listUnsuccessful', { ownerNo, runId }),

    listEvents: (ownerNo, filter, slice) => reader.call('listEvents', { ownerNo, filter, ...slice }),
    getEvent: (ownerNo, eventId) => reader.call('getEvent', { ownerNo, eventId }),
    getEventBounds: (ownerNo) => reader.call('getEventBounds', ownerNo),
    findEventBefore: (ownerNo, at) => reader.call('findEventBefore', { ownerNo, at }),
    onEvents(listener) {
      eventListeners.push(listener)
    },
    forgetEvents: (olderThan) => writer.call('forgetEvents', olderThan),
    forgetRuns: (endedBefore) => writer.call('forgetRuns', endedBefore),

    ...buildWebhookSteps(writer, reader),
    ...buildFleetSteps(catalogue, reader),

    createSession: (session) => writer.call('createSession', session),
    findSession: (sessionId) => reader.call('findSession', sessionId),
    deleteSession: (sessionId) => writer.call('deleteSession', sessionId),
    forgetSessions: (expiredBy) => writer.call('forgetSessions', expiredBy),

    forgetIdempotencyKeys: (olderThan) => writer.call('forgetIdempotencyKeys', olderThan),
    async close() {
      await Promise.all([writer.close(), reader.close()])
      releaseLock()
    },
  }
}
