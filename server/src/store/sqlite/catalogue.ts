// What the embedded store keeps in memory: which jobs, devices and keys there are, and what waits for each
// device. One process sees every write, so memory can be exact. Two rules keep it so: the writer takes
// writes in the order in which they are sent; and what is taken away vanishes here when its write is sent,
// while what is added appears here when it is on disk. So a trigger that finds a device here is written
// before anything that removes the device.

import type { DatabaseSync } from 'node:sqlite'
import type { StoredApiKey } from '../../domain/store.ts'
import { prepareApiKeys } from './api-keys.ts'
import { type DeviceRow, prepareDevices } from './devices.ts'
import { prepareExecutions } from './executions.ts'
import { type JobRef, prepareJobs } from './jobs.ts'

/** Replaced, never changed, when a device is renamed: an answer under way keeps the name it began with. */
export type DeviceRef = {
  readonly deviceNo: number
  readonly deviceId: string
  readonly deviceName: string
  /** Ids of its executions that have not ended, oldest first. Shared by all refs of the device. */
  readonly unfinished: number[]
}

type OwnerEntry = { jobs: Map<string, JobRef>; devices: Map<string, DeviceRef> }

export class Catalogue {
  readonly apiKeys = new Map<string, StoredApiKey>()
  readonly #owners = new Map<number, OwnerEntry>()

  jobs(ownerNo: number): Map<string, JobRef> {
    return this.#owner(ownerNo).jobs
  }

  devices(ownerNo: number): Map<string, DeviceRef> {
    return this.#owner(ownerNo).devices
  }

  /** Adds a device that is on disk, or puts a new name in place of the old one. */
  setDevice({ ownerNo, deviceNo, deviceId, deviceName }: DeviceRow): void {
    const devices = this.devices(ownerNo)
    const known = devices.get(deviceId)
    if (known?.deviceName === deviceName) return
    devices.set(deviceId, { deviceNo, deviceId, deviceName, unfinished: known?.unfinished ?? [] })
  }

  #owner(ownerNo: number): OwnerEntry {
    let entry = this.#owners.get(ownerNo)
    if (entry === undefined) {
      entry = { jobs: new Map(), devices: new Map() }
      this.#owners.set(ownerNo, entry)
    }
    return entry
  }
}

export function loadCatalogue(db: DatabaseSync): Catalogue {
  const catalogue = new Catalogue()
  for (const key of prepareApiKeys(db).allApiKeys()) catalogue.apiKeys.set(key.keyId, key)
  for (const { ownerNo, ...job } of prepareJobs(db).allJobRefs()) {
    catalogue.jobs(ownerNo).set(job.jobName, job)
  }
  const queues = new Map<number, number[]>()
  for (const row of prepareDevices(db).allDevices()) {
    catalogue.setDevice(row)
    const device = catalogue.devices(row.ownerNo).get(row.deviceId)
    if (device) queues.set(row.deviceNo, device.unfinished)
  }
  for (const { deviceNo, jobExecutionId } of prepareExecutions(db).unfinishedExecutions()) {
    queues.get(deviceNo)?.push(jobExecutionId)
  }
  return catalogue
}
