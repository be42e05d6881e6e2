// The requests of one device, served one at a time in order of arrival: a get sent right after an update sees it.

import type { IPingreqPacket, IPubackPacket } from 'mqtt-packet'
import type { DevicePacket } from './packets.ts'

export type Request = Exclude<DevicePacket, IPubackPacket | IPingreqPacket>

type ServesInOrder = {
  /** There is room for an answer. */
  mayServe(): boolean
  /** Undefined: served synchronously. */
  serve(request: Request): Promise<void> | undefined
  /** No request is being served any more. `error`: an internal error. */
  onIdle(error: unknown): void
}

// Queue limits; beyond them reading from the network is paused.
const maxWaiting = 20
const maxWaitingBytes = 256 * 1024

export class InOrder {
  readonly #server: ServesInOrder
  #waiting: Request[] = []
  #waitingBytes = 0
  #isServing = false

  constructor(server: ServesInOrder) {
    this.#server = server
  }

  get isServing(): boolean {
    return this.#isServing
  }

  get isFull(): boolean {
    return this.#waiting.length >= maxWaiting || this.#waitingBytes > maxWaitingBytes
  }

  add(request: Request): void {
    // Fast path: most requests never wait.
    if (!this.#isServing && this.#waiting.length === 0 && this.#server.mayServe()) {
      void this.#serveFrom(request)
      return
    }
    this.#waiting.push(request)
    this.#waitingBytes += request.length ?? 0
    this.proceed()
  }

  proceed(): void {
    if (!this.#isServing && this.#waiting.length > 0) void this.#serveFrom(undefined)
  }

  /** Discards requests that have not been started. */
  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Serves `first`, then the waiting requests. */
  async #serveFrom(first: Request | undefined): Promise<void> {
    this.#isServing = true
    let failure: unknown
    try {
      for (let request = first ?? this.#next(); request; request = this.#next()) {
        const serving = this.#server.serve(request)
        if (serving) await serving
      }
    } catch (error) {
      failure = error
    }
    this.#isServing = false
    this.#server.onIdle(failure)
  }

  #next(): Request | undefined {
    if (this.#waiting.length === 0 || !this.#server.mayServe()) return undefined
    const request = this.#waiting.shift()
    this.#waitingBytes -= request?.length ?? 0
    return request
  }
}
