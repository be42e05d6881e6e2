// A bridge to a broker that devices are connected to: their requests are served as on our own listener, and notices are
// published for each device with a change. One node carries it at a time.

import { setTimeout as sleep } from 'node:timers/promises'
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
  /** What the device was notified of has not reached the broker. */
  repeat(deviceIds: readonly string[]): void
  /** The broker was not reached for a while: whoever has something in its queue is notified of it. */
  catchUp(): void
  close(): Promise<void>
}

export type BridgeDeps = BridgeDeviceDeps &
  BridgeRequestDeps &
  BridgeEventsDeps & {
    store: Pick<Store, 'findOwner' | 'findOwnerByName'>
    presence: { seenByBridge(device: DeviceKey, silenceMs: number): void }
    tell: Tell
    openNotices(ownerNo: number, newSession: (deviceId: string) => DeviceSession): BridgedNotices
  }

type BridgeState = 'standby' | 'owner-unknown' | 'connecting' | 'connected'

/** What is shown of a bridge. */
export type BridgeView = {
  bridgeName: string
  /** Owner of the devices: ownerName or ownerId. */
  ownerName: string
  state: BridgeState
  lastError: string | undefined
  /** How long the oldest request has been waiting for its commit. */
  lagMs: number
  /** Messages that wait for the broker. */
  waiting: number
  received: number
  sent: number
  dropped: number
}

type Owner = { ownerNo: number; ownerId: string }

const ownerRetryMs = 2000

/** Carried from `start` to `stop`. */
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
  #starting: Promise<void> | undefined
  readonly #refused: RefusedNotices

  constructor(deps: BridgeDeps, settings: BridgeSettings) {
    this.#deps = deps
    this.settings = settings
    this.#refused = new RefusedNotices(deps.elapsed, (deviceIds) => this.#notices?.repeat(deviceIds))
    const { bridgeName } = settings
    this.#link = new BrokerLink({
      settings,
      elapsed: deps.elapsed,
      receive: (message) => this.#receive(message),
      onUp: () => {
        deps.tell({ kind: 'bridge-connected', bridgeName })
        this.#notices?.catchUp()
      },
      onDown: (error) => deps.tell({ kind: 'bridge-failed', bridgeName, error }),
      onRoom: () => this.#refreshFull(),
    })
  }

  get view(): BridgeView {
    const { isUp, lastError, lagMs, received, outgoing } = this.#link
    return {
      bridgeName: this.settings.bridgeName,
      ownerName: this.settings.ownerName,
      state: this.#owner === undefined ? 'owner-unknown' : isUp ? 'connected' : 'connecting',
      lastError: this.#ownerError ?? lastError,
      lagMs,
      waiting: outgoing.size,
      received,
      sent: outgoing.sent,
      dropped: outgoing.dropped,
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
    const { prefix, enroll, silenceMs } = this.settings
    const { ownerNo } = owner
    this.#owner = owner
    this.#requests = new BridgeRequests(this.#deps, {
      prefix,
      ownerNo,
      devices: new BridgeDevices(this.#deps, owner, enroll),
      answer: (topic, payload) => this.#link.outgoing.push({ topic, payload }),
      isCrowded: () => this.#link.isCrowded,
      heard: (device) => this.#deps.presence.seenByBridge(device, silenceMs),
    })
    const sink: NoticeSink = {
      moment: this.#deps.moment,
      isReadyFor: (session) => this.#isReadyFor(session),
      publish: (deviceId, suffix, payload, onSettled) =>
        this.#link.outgoing.push({ topic: jobsTopic(prefix, deviceId, suffix), payload, onSettled }),
      handed: (jobExecutionId) => this.#deps.deliveries.notified(jobExecutionId),
      refused: (deviceId) => this.#refused.add(deviceId),
    }
    this.#notices = this.#deps.openNotices(ownerNo, (deviceId) => new BridgeSession(sink, ownerNo, deviceId))
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
      onFailure: (error) => this.#deps.tell({ kind: 'bridge-failed', bridgeName, error }),
    })
    this.#events.start()
  }

  /** Undefined: the bridge is stopped. */
  async #findOwner(): Promise<Owner | undefined> {
    const { bridgeName, ownerName } = this.settings
    const { store } = this.#deps
    // By its id first: whoever is named like the id of another owner does not stand in for that one.
    while (!this.#stopping.signal.aborted) {
      try {
        const owner =
          (await store.findOwner({ ownerId: ownerName })) ?? (await store.findOwnerByName({ ownerName }))
        if (owner) {
          this.#ownerError = undefined
          return owner
        }
        this.#ownerFailed(bridgeName, `there is no owner ${ownerName}`)
      } catch (error) {
        this.#ownerFailed(bridgeName, `the owner ${ownerName} could not be read: ${(error as Error).message}`)
      }
      await sleep(ownerRetryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
    }
    return undefined
  }

  #ownerFailed(bridgeName: string, error: string): void {
    if (this.#ownerError !== error) this.#deps.tell({ kind: 'bridge-failed', bridgeName, error })
    this.#ownerError = error
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
