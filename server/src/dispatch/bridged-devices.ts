// Notices for devices on an external broker. The server does not know which of them are connected: every change of a queue is
// published, and the broker keeps it for devices that sleep. As for devices connected here, a queue is compared with what
// the device was last notified of.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { DeviceSession } from '../domain/device/ports/device-link.ts'
import type { ReleasedPart, RunPart } from '../domain/rollout/ports/rollouts.ts'
import type { LaunchedRun } from '../domain/trigger/launched-run.ts'
import type { BridgedQueues } from './bridged-queues.ts'
import type { Dispatcher } from './dispatcher.ts'

type BridgedDevicesDeps = {
  /** A dispatcher used for these sessions only. */
  notices: Dispatcher
  /** The queues that `notices` reads. */
  queues: BridgedQueues
  /** The dispatcher of devices connected to this server. */
  here: Pick<Dispatcher, 'isConnected' | 'addBridged' | 'removeBridged'>
  store: Pick<Store, 'listDevices' | 'readQueues'>
  ownerNo: number
  newSession: (deviceId: string) => DeviceSession
  /** Undefined: there is room for a batch of notices. */
  whenRoom: () => Promise<void> | undefined
  onFailure: (error: unknown) => void
}

const devicesPerRead = 250
/** Pause between two reads of a catch-up, so that other work gets a turn. */
const pauseMs = 5
/** Finds changes that a node committed but did not publish before it ended. */
const catchUpEveryMs = 5 * 60_000
const catchUpRetryMs = 5000
/** Announcing a run to a device whose session is kept needs no read of its queue. */
const rememberedSessions = 50_000
/** Above this, a slow broker holds up so many that their queues are read when there is room. */
const mostPending = 50_000

export class BridgedDevices {
  readonly #deps: BridgedDevicesDeps
  readonly #sessions = new Map<string, DeviceSession>()
  readonly #closing = new AbortController()
  #catchingUp: Promise<void> | undefined
  #mustCatchUp = false
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | undefined

  constructor(deps: BridgedDevicesDeps) {
    this.#deps = deps
  }

  open(): void {
    this.#deps.here.addBridged(this)
    this.#timer = setInterval(() => this.catchUp(), catchUpEveryMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#deps.here.removeBridged(this)
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#catchingUp
    await this.#sweeping
    for (const session of this.#sessions.values()) this.#deps.notices.leave(session)
    this.#sessions.clear()
    await this.#deps.notices.quiet()
  }

  refresh(session: DeviceSession): void {
    this.#deps.notices.refresh(session)
  }

  /** Notifies the devices again, as if they had never been notified. */
  repeat(deviceIds: readonly string[]): void {
    const { ownerNo } = this.#deps
    for (const deviceId of deviceIds) this.#remove(deviceId)
    this.wake(deviceIds.map((deviceId) => ({ ownerNo, deviceId })))
  }

  wake(devices: Iterable<DeviceKey>): void {
    const ours: DeviceKey[] = []
    for (const device of devices) if (this.#add(device)) ours.push(device)
    if (ours.length > 0) this.#deps.notices.wake(ours)
  }

  wakeOwner(ownerNo: number): void {
    if (ownerNo === this.#deps.ownerNo) this.catchUp()
  }

  /** `isOlder`: another node launched the run, and some of its executions may have ended already. */
  launched(ownerNo: number, run: LaunchedRun, isOlder: boolean): void {
    if (ownerNo !== this.#deps.ownerNo) return
    const devices = run.devices.map(({ deviceId }) => ({ ownerNo, deviceId }))
    if (isOlder || this.#deps.notices.pending > mostPending) {
      this.wake(devices)
      return
    }
    for (const device of devices) this.#add(device)
    this.#deps.notices.launched(ownerNo, run)
  }

  released(part: RunPart, released: ReleasedPart): void {
    const { ownerNo } = part
    if (ownerNo !== this.#deps.ownerNo) return
    const devices = released.executions.map(({ deviceId }) => ({ ownerNo, deviceId }))
    if (this.#deps.notices.pending > mostPending) {
      this.wake(devices)
      return
    }
    for (const device of devices) this.#add(device)
    this.#deps.notices.released(part, released)
  }

  withdraw(device: DeviceKey, jobExecutionId: number): void {
    if (!this.#isOurs(device)) return
    const withdraw = () => {
      if (this.#add(device)) this.#deps.notices.withdraw(device, jobExecutionId)
    }
    const admits = this.#deps.queues.admits(device)
    if (admits === true) withdraw()
    else admits.then((isAdmitted) => isAdmitted && withdraw()).catch(this.#deps.onFailure)
  }

  disconnect(device: DeviceKey): void {
    if (device.ownerNo === this.#deps.ownerNo) this.#remove(device.deviceId)
  }

  /** Not awaited by others, because a slow broker holds it up. */
  sweep(): void {
    this.#sweeping ??= this.#sweep()
      .catch(this.#deps.onFailure)
      .finally(() => {
        this.#sweeping = undefined
      })
  }

  /** Drops sessions above the limit that were notified of an empty queue: a new session starts in the same state. */
  async #sweep(): Promise<void> {
    await this.#deps.notices.sweep()
    for (const [deviceId, session] of this.#sessions) {
      if (this.#sessions.size <= rememberedSessions) return
      if (this.#deps.notices.knowsEmpty(session)) this.#remove(deviceId)
    }
  }

  /** A slow broker must not hold up devices that are connected here. */
  async quiet(): Promise<void> {
    if (this.#deps.whenRoom() === undefined) await this.#deps.notices.quiet()
  }

  /** Goes through all devices of the owner and sends those with a nonempty queue the notices they have not received. */
  catchUp(): void {
    this.#mustCatchUp = true
    this.#catchingUp ??= this.#catchUpAll()
  }

  async #catchUpAll(): Promise<void> {
    while (this.#mustCatchUp && !this.#closing.signal.aborted) {
      this.#mustCatchUp = false
      try {
        await this.#goThroughDevices()
      } catch (error) {
        this.#deps.onFailure(error)
        this.#mustCatchUp = true
        await this.#pause(catchUpRetryMs)
      }
    }
    this.#catchingUp = undefined
  }

  async #goThroughDevices(): Promise<void> {
    const { store, ownerNo } = this.#deps
    let after: string | undefined
    do {
      const slice = { after, limit: devicesPerRead }
      const { items, next } = await store.listDevices({ ownerNo, filter: {}, slice })
      // Another node may have revoked the credential, and its hint may have been lost.
      for (const each of items) if (each.certificateRevokedAt !== null) this.#remove(each.deviceId)
      const admitted = items.filter(({ certificateRevokedAt }) => certificateRevokedAt === null)
      const devices = admitted.map(({ deviceId }) => ({ ownerNo, deviceId }))
      const queues = await store.readQueues(devices)
      this.wake(devices.filter((device, index) => this.#hasNews(device, queues[index])))
      await this.#deps.notices.quiet()
      await this.#pause(pauseMs)
      after = next
    } while (after !== undefined && !this.#closing.signal.aborted)
  }

  #hasNews({ deviceId }: DeviceKey, queue: Awaited<ReturnType<Store['readQueues']>>[number]): boolean {
    return this.#sessions.has(deviceId) || (typeof queue === 'object' && queue.executions.length > 0)
  }

  /** False for devices of another owner and for devices connected to this server. */
  #isOurs(device: DeviceKey): boolean {
    const { ownerNo, here } = this.#deps
    return device.ownerNo === ownerNo && !here.isConnected(device)
  }

  /** Nothing more is sent to the device, not even from a queue that was already read. */
  #remove(deviceId: string): void {
    this.#deps.queues.forget(deviceId)
    const session = this.#sessions.get(deviceId)
    if (session === undefined) return
    this.#sessions.delete(deviceId)
    this.#deps.notices.leave(session)
    session.close('credential-void')
  }

  /** False for devices that are not ours. */
  #add(device: DeviceKey): boolean {
    const { notices, newSession } = this.#deps
    if (!this.#isOurs(device)) return false
    if (this.#sessions.has(device.deviceId)) return true
    const session = newSession(device.deviceId)
    this.#sessions.set(device.deviceId, session)
    notices.open(session)
    return true
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }
}
