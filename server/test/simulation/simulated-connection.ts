// The connection of a device in simulated time: messages take time and keep their order, until it breaks for one side or
// for both. What is sent into a broken one is lost; some requests arrive twice.

import type { DeviceOperation } from '@jobcast/contract'
import type { Random } from '@jobcast/testkit/seeded-random'
import type { CloseReason, DeviceNotice, DeviceSession } from '../../src/domain/device/ports/device-link.ts'
import { DeviceError } from '../../src/domain/execution/device-error.ts'
import { serveOperation } from '../../src/gateway/serve-operation.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { VirtualTime } from './virtual-time.ts'

export class Broken extends Error {}

// biome-ignore lint/suspicious/noExplicitAny: JSON as the device reads it
export type Answer = { outcome: 'accepted'; json: any } | { outcome: 'refused'; code: string }

type ConnectionOptions = {
  node: SimulatedNode
  device: { ownerNo: number; deviceId: string }
  time: VirtualTime
  random: Random
  delayMs: () => number
  mayDuplicate: () => boolean
  onNotice: (notice: DeviceNotice) => void
  onBroken: () => void
}

export class SimulatedConnection implements DeviceSession {
  readonly device: DeviceSession['device']
  readonly transport = 'mqtt'
  wants = { list: false, next: false, cancel: false }
  isReady = true
  lastSeenAt: number
  /** As its device sees it. */
  isOpen = true
  /** As the server sees it. */
  #isServed = true
  readonly #options: ConnectionOptions
  #arrivesAt = 0
  #returnsAt = 0
  #serving: Promise<unknown> = Promise.resolve()
  readonly #broken = Promise.withResolvers<never>()

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.device = { ...options.device, tokenId: null } as DeviceSession['device']
    this.lastSeenAt = options.time.now()
    this.#broken.promise.catch(() => undefined)
    options.node.killed.catch(() => this.break('both'))
    options.node.parts.sessions.open(this)
  }

  /** Of the device: it is asked to tell of what waits. */
  subscribe(): void {
    this.#toServer(() => {
      this.wants = { list: false, next: true, cancel: true }
      this.#options.node.parts.sessions.greet(this)
    })
  }

  /** Rejects with Broken when the connection is gone before the answer is there. */
  request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#toServer(() => this.#serve(operation, fields, resolve))
    if (this.#options.mayDuplicate()) this.#toServer(() => this.#serve(operation, fields, () => undefined))
    return Promise.race([promise, this.#broken.promise])
  }

  /** Congested for a while: nothing can be sent to it. */
  congest(ms: number): void {
    this.isReady = false
    this.#options.time.after(ms, () => {
      this.isReady = true
      this.#options.node.parts.sessions.refresh(this)
    })
  }

  /** The server notices it at once, or only after a while. */
  break(who: 'both' | 'device', serverMs = 0): void {
    if (this.isOpen) {
      this.isOpen = false
      this.#broken.reject(new Broken())
      this.#options.onBroken()
    }
    if (who === 'both') this.#leave()
    else this.#options.time.after(serverMs, () => this.#leave())
  }

  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void {
    if (!this.isReady) throw new Error('notified while it is congested')
    this.#toDevice(() => {
      this.#options.onNotice(notice)
      this.#toServer(() => this.#options.node.parts.sessions.delivered(jobExecutionIds))
    })
  }

  gather(): void {}

  flush(): void {}

  hold(): void {}

  release(): void {}

  close(_reason: CloseReason): void {
    this.#toDevice(() => this.break('both'))
    this.#leave()
  }

  #serve(
    operation: DeviceOperation,
    fields: Record<string, unknown>,
    resolve: (answer: Answer) => void,
  ): void {
    const { node } = this.#options
    // One after the other, as the gateway does.
    this.#serving = this.#serving.then(async () => {
      const answer = await this.#answer(operation, fields)
      if (answer && !node.isKilled) this.#toDevice(() => resolve(answer))
    })
  }

  async #answer(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer | undefined> {
    const { parts } = this.#options.node
    this.lastSeenAt = this.#options.time.now()
    try {
      const { json, seen } = await serveOperation(parts, this.device, operation, fields, 'object')
      if (seen && this.#isServed) parts.sessions.answered(this, seen)
      return { outcome: 'accepted', json: JSON.parse(json) }
    } catch (error) {
      return { outcome: 'refused', code: error instanceof DeviceError ? error.code : 'InternalError' }
    }
  }

  #leave(): void {
    if (!this.#isServed) return
    this.#isServed = false
    if (!this.#options.node.isKilled) this.#options.node.parts.sessions.leave(this)
  }

  #toServer(arrive: () => void): void {
    const { time, delayMs, node } = this.#options
    this.#arrivesAt = Math.max(this.#arrivesAt, time.elapsed + delayMs())
    // What was sent before the connection broke may still arrive.
    time.after(this.#arrivesAt - time.elapsed, () => node.isKilled || !this.#isServed || arrive())
  }

  #toDevice(arrive: () => void): void {
    const { time, delayMs } = this.#options
    this.#returnsAt = Math.max(this.#returnsAt, time.elapsed + delayMs())
    time.after(this.#returnsAt - time.elapsed, () => this.isOpen && arrive())
  }
}
