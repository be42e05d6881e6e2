// Notices for devices that are connected to a broker of the user. Whether one is connected is not known here: each change of a
// queue is published, and the broker keeps it for devices that sleep. What a device was notified of is compared as for those
// that are connected to us.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { DeviceSession } from '../domain/device/ports/device-link.ts'
import type { ReleasedPart, RunPart } from '../domain/rollout/ports/rollouts.ts'
import type { LaunchedRun } from '../domain/trigger/launched-run.ts'
import type { BridgedQueues } from './bridged-queues.ts'
import type { Dispatcher } from './dispatcher.ts'

type BridgedDevicesDeps = {
  /** Of its own, for these sessions only. */
  notices: Dispatcher
  /** Those that `notices` reads. */
  queues: BridgedQueues
  /** Those that are connected to us. */
  here: Pick<Dispatcher, 'isConnected' | 'addBridged' | 'removeBridged'>
  store: Pick<Store, 'listDevices' | 'readQueues'>
  ownerNo: number
  newSession: (deviceId: string) => DeviceSession
  onFailure: (error: unknown) => void
}

const devicesPerRead = 250
/** Between two reads of a catch-up, so that others get their turn. */
const pauseMs = 5
/** What a node did not come to say before it ended is found so soon. */
const catchUpEveryMs = 5 * 60_000
const catchUpRetryMs = 5000
/** A run of devices that are remembered needs no read of their queues. */
const rememberedSessions = 50_000

export class BridgedDevices {
  readonly #deps: BridgedDevicesDeps
  readonly #sessions = new Map<string, DeviceSession>()
  readonly #closing = new AbortController()
  #catchingUp: Promise<void> | undefined
  #mustCatchUp = false
  #timer: NodeJS.Timeout | undefined

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
    for (const session of this.#sessions.values()) this.#deps.notices.leave(session)
    this.#sessions.clear()
    await this.#deps.notices.quiet()
  }

  refresh(session: DeviceSession): void {
    this.#deps.notices.refresh(session)
  }

  /** As if they had been notified of nothing. */
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

  /** `isOlder`: another node has launched it, and some of its executions may have ended already. */
  launched(ownerNo: number, run: LaunchedRun, isOlder: boolean): void {
    if (ownerNo !== this.#deps.ownerNo) return
    const devices = run.devices.map(({ deviceId }) => ({ ownerNo, deviceId }))
    if (isOlder) {
      this.wake(devices)
      return
    }
    for (const device of devices) this.#add(device)
    this.#deps.notices.launched(ownerNo, run)
  }

  released(part: RunPart, released: ReleasedPart): void {
    const { ownerNo } = part
    if (ownerNo !== this.#deps.ownerNo) return
    for (const { deviceId } of released.executions) this.#add({ ownerNo, deviceId })
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

  /** Those that were notified of an empty queue are as good as new: of many, nobody has to remember them. */
  async sweep(): Promise<void> {
    await this.#deps.notices.sweep()
    for (const [deviceId, session] of this.#sessions) {
      if (this.#sessions.size <= rememberedSessions) return
      if (this.#deps.notices.knowsEmpty(session)) this.#remove(deviceId)
    }
  }

  quiet(): Promise<void> {
    return this.#deps.notices.quiet()
  }

  /** Goes through all devices of the owner: whoever has something in its queue is notified of what it was not notified of. */
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
      // Another node may have revoked it without a word.
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

  /** False: it is not of our owner, or connected to us. */
  #isOurs(device: DeviceKey): boolean {
    const { ownerNo, here } = this.#deps
    return device.ownerNo === ownerNo && !here.isConnected(device)
  }

  /** Nothing more is sent to it, also of what was read already. */
  #remove(deviceId: string): void {
    this.#deps.queues.forget(deviceId)
    const session = this.#sessions.get(deviceId)
    if (session === undefined) return
    this.#sessions.delete(deviceId)
    this.#deps.notices.leave(session)
    session.close('credential-void')
  }

  /** False: it is not ours. */
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
