// Keeps a device connected: reconnects after any loss, and is offline in phases.

import { type Chance, chanceOf } from './chance.ts'
import type { ConnectGate } from './connect-gate.ts'
import { type Credential, DeviceLine, type DeviceMessage, type LineEnd, type Network } from './device-line.ts'
import type { TellFleet } from './fleet-event.ts'
import type { Pattern } from './pattern.ts'
import type { Appointment, Schedule } from './schedule.ts'

type PresenceDeps = {
  network: Network
  schedule: Schedule
  gate: ConnectGate
  seed: number
  tell: TellFleet
}

type PresenceListener = {
  cameOnline(): void
  said(suffix: string, message: DeviceMessage): void
}

const connectWithinMs = 30_000
const backoffMs = { base: 1000, cap: 30_000 }

export class Presence {
  readonly #deps: PresenceDeps
  readonly #credential: Credential
  readonly #pattern: Pattern
  readonly #listener: PresenceListener
  readonly #chance: Chance
  readonly #settled = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<void>()
  #line: DeviceLine | undefined
  #isOnline = false
  #wantsOnline = false
  #isStopped = false
  #failures = 0
  #retry: Appointment | undefined

  constructor(deps: PresenceDeps, credential: Credential, pattern: Pattern, listener: PresenceListener) {
    this.#deps = deps
    this.#credential = credential
    this.#pattern = pattern
    this.#listener = listener
    this.#chance = chanceOf(deps.seed, credential.deviceId)
  }

  /** Resolves when the device is online for the first time, is refused, or starts offline. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  start(): void {
    this.#begin(this.#chance.fraction() < this.#pattern.offlineRate ? 'offline' : 'online')
  }

  /** Resolves when its connection is closed. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#settled.resolve()
    this.#leave()
    if (this.#line === undefined) this.#gone.resolve()
    return this.#gone.promise
  }

  cut(reason: string): void {
    this.#line?.cut(reason)
  }

  ping(): void {
    this.#line?.ping()
  }

  /** Messages sent while offline are dropped. */
  publish(suffix: string, fields: object): void {
    if (this.#isOnline) this.#line?.publish(suffix, fields)
  }

  #begin(phase: 'online' | 'offline'): void {
    const { offlineRate, offlineSeconds } = this.#pattern
    if (phase === 'online') this.#come()
    else this.#leave()
    if (phase === 'offline') this.#settled.resolve()
    if (offlineRate <= 0 || offlineRate >= 1) return
    // Online long enough that the configured share of the time is offline.
    const factor = phase === 'offline' ? 1 : (1 - offlineRate) / offlineRate
    const ms = this.#chance.within(offlineSeconds) * factor * 1000
    this.#deps.schedule.after(ms, () => this.#begin(phase === 'online' ? 'offline' : 'online'))
  }

  #come(): void {
    this.#wantsOnline = true
    this.#deps.gate.enter((leaveGate) => this.#connect(leaveGate))
  }

  #leave(): void {
    this.#wantsOnline = false
    this.#deps.schedule.cancel(this.#retry)
    this.#line?.end()
  }

  #connect(leaveGate: () => void): void {
    // This may no longer be wanted after a long wait; or the previous connection is still closing, and then it retries.
    if (!this.#wantsOnline || this.#isStopped || this.#line) {
      leaveGate()
      return
    }
    const { schedule, network } = this.#deps
    const late = schedule.after(connectWithinMs, () => this.#line?.cut('the server did not answer'))
    const decided = () => {
      schedule.cancel(late)
      leaveGate()
    }
    this.#line = new DeviceLine(network, this.#credential, {
      opened: () => {
        decided()
        this.#opened()
      },
      said: (suffix, message) => this.#listener.said(suffix, message),
      closed: (end) => {
        decided()
        this.#closed(end)
      },
    })
  }

  #opened(): void {
    this.#failures = 0
    this.#isOnline = true
    this.#deps.tell({ kind: 'online', deviceId: this.#credential.deviceId })
    this.#listener.cameOnline()
    this.#settled.resolve()
  }

  #closed({ wasOpen, refused, reason }: LineEnd): void {
    const { deviceId } = this.#credential
    this.#line = undefined
    this.#isOnline = false
    if (wasOpen) this.#deps.tell({ kind: 'offline', deviceId })
    if (this.#isStopped) this.#gone.resolve()
    else if (refused) this.#giveUp()
    else if (this.#wantsOnline) {
      if (!wasOpen) this.#deps.tell({ kind: 'connect-failed', deviceId, reason })
      this.#comeLater()
    }
  }

  /** Exponential backoff with full jitter, so that a fleet does not reconnect all at once. */
  #comeLater(): void {
    const longest = Math.min(backoffMs.cap, backoffMs.base * 2 ** this.#failures)
    this.#failures++
    this.#retry = this.#deps.schedule.after(Math.random() * longest, () => this.#come())
  }

  /** Another token was created for this device, so another process may be using it now. */
  #giveUp(): void {
    this.#isStopped = true
    this.#gone.resolve()
    this.#deps.tell({ kind: 'refused', deviceId: this.#credential.deviceId })
    this.#settled.resolve()
  }
}
