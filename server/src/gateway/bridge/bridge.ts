// A bridge to an external broker: serves the requests of its devices as on our own listener, and publishes notices for each
// device whose queue changes. Runs on one node at a time.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BridgeView } from '../../domain/bridge/bridge.ts'
import { findBridgeOwner } from '../../domain/bridge/bridge-owner.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { DeviceSession } from '../../domain/device/ports/device-link.ts'
import type { Tell } from '../../observe/events.ts'
import { type BridgeDeviceDeps, BridgeDevices } from './bridge-devices.ts'
import { BridgeEvents, type BridgeEventsDeps } from './bridge-events.ts'
import { type BridgeRequestDeps, BridgeRequests } from './bridge-requests.ts'
import { BridgeSession, type NoticeSink } from './bridge-session.ts'
import type { BridgeSettings } from './bridge-settings.ts'
import { jobsTopic } from './bridge-topics.ts'
import { BrokerLink, type Incoming } from './broker-link.ts'
import { RefusedNotices } from './refused-notices.ts'

/** Notices for the devices of an owner, connected or not. */
type BridgedNotices = {
  /** There is room again for a session that was not ready. */
  refresh(session: DeviceSession): void
  /** Notices of these devices have not reached the broker. */
  repeat(deviceIds: readonly string[]): void
  /** After an interruption, notifies all devices that have something in their queue. */
  catchUp(): void
  close(): Promise<void>
}

export type BridgeDeps = BridgeDeviceDeps &
  BridgeRequestDeps &
  BridgeEventsDeps & {
    store: Pick<Store, 'findOwner' | 'findOwnerByName'>
    presence: {
      seenByBridge(device: DeviceKey, silenceMs: number, bridgeName: string): void
      countByBridge(bridgeName: string): number
    }
    tell: Tell
    /** `whenRoom` resolves when another batch of notices can be published; undefined: now. */
    openNotices(
      ownerNo: number,
      newSession: (deviceId: string) => DeviceSession,
      whenRoom: () => Promise<void> | undefined,
    ): BridgedNotices
  }

type Owner = { ownerNo: number; ownerId: string }

const ownerRetryMs = 2000
/** Counting goes through all devices. */
const countEveryMs = 1000
/** The error may contain a topic, and is sent to all nodes. */
const maxErrorLength = 500

export class Bridge {
  readonly settings: BridgeSettings
  readonly #deps: BridgeDeps
  readonly #link: BrokerLink
  readonly #stopping = new AbortController()
  readonly #full = new Set<DeviceSession>()
  #owner: Owner | undefined
  #requests: BridgeRequests | undefined
  #notices: BridgedNotices | undefined
  #events: BridgeEvents | undefined
  #ownerError: string | undefined
  #since: number
  #lastFailure: BridgeView['lastFailure'] = null
  #counted = { devicesOnline: 0, at: Number.NEGATIVE_INFINITY }
  #starting: Promise<void> | undefined
  readonly #refused: RefusedNotices

  constructor(deps: BridgeDeps, settings: BridgeSettings) {
    this.#deps = deps
    this.settings = settings
    this.#since = deps.now()
    this.#refused = new RefusedNotices(deps.elapsed, (deviceIds) => this.#notices?.repeat(deviceIds))
    const { bridgeName } = settings
    this.#link = new BrokerLink({
      settings,
      elapsed: deps.elapsed,
      receive: (message) => this.#receive(message),
      onUp: () => {
        this.#since = deps.now()
        deps.tell({ kind: 'bridge-connected', bridgeName })
        this.#notices?.catchUp()
      },
      onLost: () => {
        this.#since = deps.now()
      },
      onError: (error, isNew) => this.#failed(error, isNew),
      onRoom: () => this.#refreshFull(),
    })
  }

  get view(): BridgeView {
    const { isUp, lastError, lagMs, received, outgoing } = this.#link
    const { bridgeName, ownerName, events: topic } = this.settings
    const { failingSince = null, leftOut = 0 } = this.#events ?? {}
    return {
      bridgeName,
      ownerName,
      state: this.#owner === undefined ? 'owner-unknown' : isUp ? 'connected' : 'connecting',
      lastError: (this.#ownerError ?? lastError)?.slice(0, maxErrorLength).toWellFormed(),
      since: this.#since,
      lastFailure: this.#lastFailure,
      lagMs,
      devicesOnline: this.#countDevices(),
      waiting: outgoing.size,
      received,
      sent: outgoing.sent,
      dropped: outgoing.dropped,
      events: topic === undefined ? null : { topic, failingSince, leftOut },
    }
  }

  start(): void {
    this.#starting = this.#start()
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#starting
    this.#refused.stop()
    this.#requests?.stop()
    await this.#events?.stop()
    await this.#link.stop()
    await this.#notices?.close()
  }

  async #start(): Promise<void> {
    const owner = await this.#findOwner()
    if (owner === undefined) return
    const { bridgeName, prefix, enroll, silenceMs } = this.settings
    const { ownerNo } = owner
    this.#owner = owner
    this.#requests = new BridgeRequests(this.#deps, {
      prefix,
      ownerNo,
      devices: new BridgeDevices(this.#deps, owner, enroll),
      answer: (topic, payload) => this.#link.outgoing.push({ topic, payload }),
      isCrowded: () => this.#link.isCrowded,
      heard: (device) => this.#deps.presence.seenByBridge(device, silenceMs, bridgeName),
    })
    const sink: NoticeSink = {
      moment: this.#deps.moment,
      isReadyFor: (session) => this.#isReadyFor(session),
      publish: (deviceId, suffix, payload, onSettled) =>
        this.#link.outgoing.push({ topic: jobsTopic(prefix, deviceId, suffix), payload, onSettled }),
      handed: (jobExecutionId) => this.#deps.deliveries.notified(jobExecutionId),
      refused: (deviceId) => this.#refused.add(deviceId),
    }
    this.#notices = this.#deps.openNotices(
      ownerNo,
      (deviceId) => new BridgeSession(sink, ownerNo, deviceId),
      () => this.#link.outgoing.whenRoom(),
    )
    this.#link.start()
    this.#startEvents(ownerNo)
  }

  #startEvents(ownerNo: number): void {
    const { bridgeName, events: topic } = this.settings
    if (topic === undefined) return
    this.#events = new BridgeEvents(this.#deps, {
      ...{ bridgeName, ownerNo },
      publish: (payload) =>
        new Promise((resolve, reject) => {
          const onSettled = (error: unknown) => (error === undefined ? resolve() : reject(error))
          this.#link.outgoing.push({ topic, payload, onSettled })
        }),
      onFailure: (error) => this.#failed(error, true),
    })
    this.#events.start()
  }

  /** Undefined: the bridge is stopped. */
  async #findOwner(): Promise<Owner | undefined> {
    const { ownerName } = this.settings
    while (!this.#stopping.signal.aborted) {
      try {
        const owner = await findBridgeOwner(this.#deps.store, ownerName)
        if (owner) {
          this.#ownerError = undefined
          return owner
        }
        this.#ownerFailed(`there is no owner ${ownerName}`)
      } catch (error) {
        this.#ownerFailed(`the owner ${ownerName} could not be read: ${(error as Error).message}`)
      }
      await sleep(ownerRetryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
    }
    return undefined
  }

  #ownerFailed(error: string): void {
    this.#failed(error, this.#ownerError !== error)
    this.#ownerError = error
  }

  #failed(error: string, isNew: boolean): void {
    this.#lastFailure = { at: this.#deps.now(), error: error.slice(0, maxErrorLength).toWellFormed() }
    if (isNew) this.#deps.tell({ kind: 'bridge-failed', bridgeName: this.settings.bridgeName, error })
  }

  #countDevices(): number {
    const at = this.#deps.elapsed()
    if (at - this.#counted.at >= countEveryMs) {
      const devicesOnline = this.#deps.presence.countByBridge(this.settings.bridgeName)
      this.#counted = { devicesOnline, at }
    }
    return this.#counted.devicesOnline
  }

  #receive(message: Incoming): void {
    this.#requests?.receive(message)
  }

  #isReadyFor(session: DeviceSession): boolean {
    if (this.#link.outgoing.hasRoom) return true
    this.#full.add(session)
    return false
  }

  #refreshFull(): void {
    for (const session of this.#full) {
      if (!this.#link.outgoing.hasRoom) return
      this.#full.delete(session)
      this.#notices?.refresh(session)
    }
  }
}
