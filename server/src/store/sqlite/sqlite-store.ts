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
    findOwner: (owner) => reader.call('findOwner', owner.ownerId),
    listOwners: (slice) => reader.call('listOwners', slice),

    async createFirstKey(first) {
      const stored = await writer.call('createFirstKey', first)
      if (stored) catalogue.apiKeys.set(stored.keyId, stored)
      return stored !== undefined
    },
    async createApiKey(key) {
      const stored = await writer.call('createApiKey', key)
      catalogue.apiKeys.set(stored.keyId, stored)
      return stored
    },
    findApiKey: ({ keyId }) => catalogue.apiKeys.get(keyId),
    listApiKeys: (list) => reader.call('listApiKeys', list),
    async revokeApiKey({ ownerNo, keyId, at }) {
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
    getJob: (job) => reader.call('getJob', job),
    listJobs: (list) => reader.call('listJobs', list),
    deleteJob({ ownerNo, jobName, at }) {
      const write = () => writer.call('deleteJob', { ownerNo, jobName, at })
      return catalogue.jobs(ownerNo).remove(jobName, write)
    },

    async putDevices(puts) {
      const results = await catalogue.putDevices(puts, () => writer.call('putDevices', puts))
      return results.map(({ created, value }) => ({ created, value }))
    },
    getDevice: (device) => reader.call('getDevice', device),
    listDevices: ({ ownerNo, filter: { tag, online }, slice }) =>
      reader.call('listDevices', { ownerNo, tag, online, slice }),
    async deleteDevice({ ownerNo, deviceId, moment, actor }) {
      const devices = catalogue.devices(ownerNo)
      const unfinishedIds = [...(devices.getOnDisk(deviceId)?.queue.all ?? [])]
      const write = () => writer.call('deleteDevice', { ownerNo, deviceId, unfinishedIds, moment, actor })
      return devices.remove(deviceId, write)
    },
    setDeviceToken: (change) => writer.call('setDeviceToken', change),
    findDeviceByToken: ({ tokenId }) => reader.call('findDeviceByToken', tokenId),
    findDeviceByCertificate: (named) => reader.call('findDeviceByCertificate', named),

    createEnrollment: (enrollment) => writer.call('createEnrollment', enrollment),
    findEnrollment: ({ enrollmentId }) => reader.call('findEnrollment', enrollmentId),
    listEnrollments: (list) => reader.call('listEnrollments', list),
    revokeEnrollment: (change) => writer.call('revokeEnrollment', change),
    async enrollDevice(enrolling) {
      const { made, ...outcome } = await writer.call('enrollDevice', enrolling)
      if (made) catalogue.setDevice(made)
      return outcome
    },

    recordPresence: (changes) => writer.call('recordPresence', changes),
    setAllOffline: ({ at }) => writer.call('setAllOffline', at),

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
    getExecution: (execution) => reader.call('getExecution', execution),
    listExecutions({ ownerNo, filter, slice: { after, limit } }) {
      // What is launched from now on is left out, so that it cannot be seen in part.
      const before = Math.min(after ?? Number.MAX_SAFE_INTEGER, lastIds.jobExecutionId + 1)
      const { deviceId } = filter
      const device = deviceId === undefined ? undefined : catalogue.devices(ownerNo).getOnDisk(deviceId)
      const waiting = device?.queue.newestBelow(before, waitingPerPage) ?? { ids: [], complete: true }
      return reader.call('listExecutions', { ownerNo, filter, before, limit, waiting })
    },
    ...buildDeviceSteps(catalogue, writer, reader),
    listTransitions: (execution) => reader.call('listTransitions', execution),
    readOutput: (slice) => reader.call('readOutput', slice),
    getDocument: ({ jobVersion }) => reader.call('getDocument', jobVersion),
    recordDeliveries: (deliveries) => writer.call('recordDeliveries', deliveries),

    getRun: (run) => reader.call('getRun', run),
    listRuns: ({ ownerNo, filter: { jobName, finished }, slice }) =>
      reader.call('listRuns', { ownerNo, jobName, finished, slice }),
    listUnsuccessful: (run) => reader.call('listUnsuccessful', run),

    listEvents: ({ ownerNo, filter, slice }) => reader.call('listEvents', { ownerNo, filter, ...slice }),
    getEvent: (event) => reader.call('getEvent', event),
    getEventBounds: ({ ownerNo }) => reader.call('getEventBounds', ownerNo),
    findEventBefore: (instant) => reader.call('findEventBefore', instant),
    onEvents(listener) {
      eventListeners.push(listener)
    },
    purgeEvents: ({ olderThan }) => writer.call('purgeEvents', olderThan),
    purgeRuns: ({ endedBefore }) => writer.call('purgeRuns', endedBefore),

    ...buildWebhookSteps(writer, reader),
    ...buildFleetSteps(catalogue, reader),

    createSession: (session) => writer.call('createSession', session),
    findSession: ({ sessionId }) => reader.call('findSession', sessionId),
    deleteSession: ({ sessionId }) => writer.call('deleteSession', sessionId),
    purgeSessions: ({ expiredBy }) => writer.call('purgeSessions', expiredBy),

    purgeIdempotencyKeys: ({ olderThan }) => writer.call('purgeIdempotencyKeys', olderThan),
    async close() {
      await Promise.all([writer.close(), reader.close()])
      releaseLock()
    },
  }
}
