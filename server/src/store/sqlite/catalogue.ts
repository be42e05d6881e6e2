// The in-memory state of the embedded store: jobs, devices, keys, and the waiting executions of each device. One process makes
// every write, so memory can be exact. Two rules ensure this: the writer executes and answers writes in the order of sending (a
// large run is several of them, see draft-writer.ts); and a deleted job or device is removed here when its write is sent, while
// an added one appears here when it is on disk. So a trigger that finds a device here is written before the device is removed. A
// large run whose device is removed between two of its batches ends its execution for that device.

import type { DatabaseSync } from 'node:sqlite'
import type { StoredApiKey } from '../../domain/access/ports/api-keys.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { DevicePut } from '../../domain/device/ports/devices.ts'
import type { NamedDevice } from '../../domain/trigger/launch-run.ts'
import type { LaunchedDevice } from '../../domain/trigger/launched-run.ts'
import { select } from '../schema/column.ts'
import { device, freeze, offerWindow } from '../schema/tables.ts'
import { API_KEY, SELECT_API_KEYS } from '../tables/api-keys.ts'
import { JOB, type JobRef, SELECT_JOBS, toJobRef } from '../tables/jobs.ts'
import { DeviceWindows } from './device-windows.ts'
import { DeviceZones } from './device-zones.ts'
import { HeldRanges } from './held-ranges.ts'
import { NameIndex } from './name-index.ts'
import { Priorities } from './priorities.ts'
import {
  readDelayed,
  readDeviceWindows,
  readHeld,
  readPrioritized,
  readUnfinished,
  readWindowed,
  readZones,
} from './unfinished.ts'
import { WaitingQueue } from './waiting-queue.ts'
import { type HeldBack, Windows } from './windows.ts'

const DEVICE = select(device.pick('ownerNo', 'deviceNo', 'deviceId', 'deviceName'))
const SELECT_DEVICES = `SELECT ${DEVICE} FROM device WHERE deleted_at IS NULL` as const

const FROZEN = select(freeze.pick('ownerNo'))
const SELECT_FROZEN = `SELECT ${FROZEN} FROM fleet_freeze` as const

const WINDOW = select(offerWindow.pick('ownerNo', 'windowName', 'version', 'openZones'))
const SELECT_WINDOWS = `SELECT ${WINDOW} FROM offer_window` as const

export type DeviceRow = DeviceKey & { deviceNo: number; deviceName: string }

/** Immutable: replaced when a device is renamed, so that a response in progress keeps the old name. */
export type DeviceRef = {
  readonly deviceNo: number
  readonly deviceId: string
  readonly deviceName: string
  /** Shared by all refs of the device. */
  readonly queue: WaitingQueue
} & NamedDevice &
  LaunchedDevice

type OwnerEntry = {
  jobs: NameIndex<JobRef>
  devices: NameIndex<DeviceRef>
  /** The number of puts in progress per device, whose future name only the writer can determine. */
  puts: Map<string, number>
}

/** `positions`: the position in the run, from 1, by device number; 0: already in the queue, or not in the run. */
export type Settling = {
  ownerNo: number
  first: number
  last: number
  positions: Int32Array
  ended: Set<number>
}

export class Catalogue {
  readonly apiKeys = new Map<string, StoredApiKey>()
  readonly held = new HeldRanges()
  readonly windows = new Windows()
  readonly priorities = new Priorities()
  readonly zones = new DeviceZones()
  readonly deviceWindows = new DeviceWindows()
  /** Owners whose fleets are frozen. */
  readonly frozen = new Set<number>()
  /** The number of freezes and unfreezes per owner, which change the marks of queues. */
  readonly freezeChanges = new Map<number, number>()
  readonly #owners = new Map<number, OwnerEntry>()
  /** Executions of deleted devices, left over by an earlier process. */
  readonly left: number[] = []

  /** Large runs whose executions are being added to the queues, with those that have ended meanwhile. */
  readonly #settling = new Set<Settling>()

  beginSettling(ownerNo: number, first: number, total: number, positions: Int32Array): Settling {
    const settling = { ownerNo, first, last: first + total - 1, positions, ended: new Set<number>() }
    this.#settling.add(settling)
    return settling
  }

  endSettling(settling: Settling): void {
    this.#settling.delete(settling)
  }

  hasEnded(jobExecutionId: number): void {
    for (const { first, last, ended } of this.#settling) {
      if (jobExecutionId >= first && jobExecutionId <= last) ended.add(jobExecutionId)
    }
  }

  /** The unfinished executions of a device, including those that are not in its queue yet. */
  unfinishedOf(ownerNo: number, device: DeviceRef | undefined): number[] {
    if (device === undefined) return []
    const settling = [...this.#settling].filter((each) => each.ownerNo === ownerNo)
    const coming = settling.flatMap(({ first, positions }) => {
      const position = positions[device.deviceNo] ?? 0
      return position === 0 ? [] : [first + position - 1]
    })
    return [...device.queue.all, ...coming]
  }

  /** The executions in its queue that are not offered to a device right now. */
  heldBackFrom(deviceNo: number): HeldBack {
    const { held, windows } = this
    const device = this.deviceWindows.of(deviceNo)
    if (windows.isEmpty && device === undefined) return held
    const zone = this.zones.of(deviceNo)
    const isClosed = windows.isClosedFor(device, zone)
    return { isEmpty: false, has: (id) => held.has(id) || windows.isClosed(id, zone) || isClosed(id) }
  }

  jobs(ownerNo: number): NameIndex<JobRef> {
    return this.#owner(ownerNo).jobs
  }

  devices(ownerNo: number): NameIndex<DeviceRef> {
    return this.#owner(ownerNo).devices
  }

  /** Whether a write in progress may rename one of these devices. */
  isOneBeingPut(ownerNo: number, deviceIds: string[]): boolean {
    const { puts } = this.#owner(ownerNo)
    return puts.size > 0 && deviceIds.some((deviceId) => puts.has(deviceId))
  }

  /** New devices and names appear once they are on disk. */
  async putDevices<T extends { deviceNo: number; isRefused?: true }>(
    puts: DevicePut[],
    write: () => Promise<T[]>,
  ): Promise<T[]> {
    for (const put of puts) this.#countPut(put, 1)
    try {
      const results = await write()
      results.forEach(({ deviceNo, isRefused }, index) => {
        if (!isRefused) this.setDevice({ ...(puts[index] as DevicePut), deviceNo })
      })
      return results
    } finally {
      for (const put of puts) this.#countPut(put, -1)
    }
  }

  setFrozen(ownerNo: number, isFrozen: boolean): void {
    if (isFrozen) this.frozen.add(ownerNo)
    else this.frozen.delete(ownerNo)
    this.freezeChanges.set(ownerNo, (this.freezeChanges.get(ownerNo) ?? 0) + 1)
  }

  setDevice({ ownerNo, deviceNo, deviceId, deviceName }: DeviceRow): void {
    const devices = this.devices(ownerNo)
    const known = devices.getOnDisk(deviceId)
    if (known?.deviceName === deviceName) return
    const queue = known?.queue ?? new WaitingQueue()
    devices.set(deviceId, { deviceNo, deviceId, deviceName, queue, namedBy: 0, encoded: undefined })
  }

  #countPut({ ownerNo, deviceId }: DevicePut, change: number): void {
    const { puts } = this.#owner(ownerNo)
    const count = (puts.get(deviceId) ?? 0) + change
    if (count === 0) puts.delete(deviceId)
    else puts.set(deviceId, count)
  }

  #owner(ownerNo: number): OwnerEntry {
    let entry = this.#owners.get(ownerNo)
    if (entry === undefined) {
      entry = { jobs: new NameIndex(), devices: new NameIndex(), puts: new Map() }
      this.#owners.set(ownerNo, entry)
    }
    return entry
  }
}

export function loadCatalogue(db: DatabaseSync): Catalogue {
  const catalogue = new Catalogue()
  for (const row of db.prepare(SELECT_API_KEYS).iterate()) {
    const key = { ...API_KEY.read(row) }
    catalogue.apiKeys.set(key.keyId, key)
  }
  for (const row of db.prepare(SELECT_JOBS).iterate()) {
    const job = JOB.read(row)
    catalogue.jobs(job.ownerNo).set(job.jobName, toJobRef(job))
  }
  const queues = new Map<number, WaitingQueue>()
  for (const each of db.prepare(SELECT_DEVICES).iterate()) {
    const row = DEVICE.read(each)
    catalogue.setDevice(row)
    const device = catalogue.devices(row.ownerNo).get(row.deviceId)
    if (device) queues.set(row.deviceNo, device.queue)
  }
  readUnfinished(db, (jobExecutionId, deviceNo) => {
    const queue = queues.get(deviceNo)
    if (queue) queue.add(jobExecutionId)
    else catalogue.left.push(jobExecutionId)
  })
  readHeld(db, (runId, from, to) => catalogue.held.hold(runId, from, to))
  for (const row of db.prepare(SELECT_FROZEN).iterate()) catalogue.frozen.add(FROZEN.read(row).ownerNo)
  for (const row of db.prepare(SELECT_WINDOWS).iterate()) {
    const { openZones, version, ...window } = WINDOW.read(row)
    catalogue.windows.put(window, openZones, version)
  }
  readWindowed(db, (run, begun) => catalogue.windows.add(run, begun))
  readPrioritized(db, (run) => catalogue.priorities.add(run))
  readZones(db, (deviceNo, zone) => catalogue.zones.set(deviceNo, zone))
  readDeviceWindows(db, (deviceNo, ownerNo, windows, begun) =>
    catalogue.deviceWindows.set(deviceNo, ownerNo, windows, begun),
  )
  readDelayed(db, (jobExecutionId, deviceNo) => queues.get(deviceNo)?.delay(jobExecutionId))
  return catalogue
}
