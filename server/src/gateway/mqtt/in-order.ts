// The requests of one device, served one at a time and in the order in which they came: so an update and a get behind
// it, sent in one go, see each other.

import type { IPingreqPacket, IPubackPacket } from 'mqtt-packet'
import type { DevicePacket } from './packets.ts'

export type Request = Exclude<DevicePacket, IPubackPacket | IPingreqPacket>

export type ServesInOrder = {
  /** There is room for an answer. */
  mayServe(): boolean
  /** Undefined: it is served already. */
  serve(request: Request): Promise<void> | undefined
  /** Nothing is being served any more. With an error, it was our fault. */
  rested(error: unknown): void
}

// As much may wait here; then the network holds the rest back.
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
    this.#waiting.push(request)
    this.#waitingBytes += request.length ?? 0
    this.goOn()
  }

  goOn(): void {
    if (!this.#isServing && this.#waiting.length > 0) void this.#serveWaiting()
  }

  /** What has not been begun will not be. */
  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  async #serveWaiting(): Promise<void> {
    this.#isServing = true
    let failure: unknown
    try {
      while (this.#server.mayServe()) {
        const request = this.#waiting.shift()
        if (request === undefined) break
        this.#waitingBytes -= request.length ?? 0
        const serving = this.#server.serve(request)
        if (serving) await serving
      }
    } catch (error) {
      failure = error
    }
    this.#isServing = false
    this.#server.rested(failure)
  }
}
