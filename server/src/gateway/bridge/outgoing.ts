// Messages to the broker with QoS 1, limited to what it accepts unacknowledged. Up to a memory limit, further ones are queued.
// Only a few notices are queued: they can be made again from the store, and answers would wait behind them.

import { InFlight } from './in-flight.ts'

export type Outgoing = {
  topic: string
  payload: string
  /** Called when the broker has acknowledged or refused it. `hasReader`: false if the broker reported no subscribers. */
  onSettled?: (error: unknown, hasReader: boolean) => void
}

/** MQTT 3.1.1 has no receive maximum. */
export const defaultWindow = 1000
/** Of messages that wait, and again of those that are unacknowledged. */
const maxBytes = 32 * 1024 * 1024
/** Above this, notices wait in the store; answers cannot. */
const few = { messages: 1500, bytes: maxBytes / 2 }
/** With so many waiting, there is room for the batches of an announcement and of a read. */
const fewer = { messages: 500, bytes: maxBytes / 4 }

type OutgoingDeps = {
  /** Returns an error if the message cannot be sent. `isRepeated`: it was sent on an earlier connection. */
  send(message: Outgoing, packetId: number, isRepeated: boolean): Error | undefined
  onRefused(message: Outgoing, error: unknown): void
  /** There is room for notices again. */
  onRoom(): void
}

export class OutgoingQueue {
  readonly #deps: OutgoingDeps
  readonly #inFlight = new InFlight<Outgoing>()
  #queue: Outgoing[] = []
  /** The next one of the queue. Those before are sent. */
  #next = 0
  /** Unacknowledged on earlier connections; they are sent again before the queue. */
  #repeated: [number, Outgoing][] = []
  #waitingBytes = 0
  #inFlightBytes = 0
  #window = 0
  #wasFull = false
  #waiters: (() => void)[] = []
  dropped = 0
  sent = 0

  constructor(deps: OutgoingDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#waiting + this.#inFlight.size
  }

  get hasRoom(): boolean {
    const hasRoom = this.#window > 0 && this.#isWithin(few)
    this.#wasFull ||= !hasRoom
    return hasRoom
  }

  /** Resolves when there is room for notices, or the connection is lost; undefined: now. */
  whenRoom(): Promise<void> | undefined {
    if (this.#window === 0 || this.#isWithin(fewer)) return undefined
    this.#wasFull = true
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
    })
  }

  /** The connection is up and accepts this many unacknowledged messages. */
  open(window: number): void {
    this.#window = Math.max(1, Math.min(window, defaultWindow))
    this.#pump()
    this.#tellRoom()
  }

  /** Unacknowledged messages are sent again on the next connection. */
  close(): void {
    this.#window = 0
    this.#repeated = [...this.#inFlight.takeAll(), ...this.#repeated]
    this.#waitingBytes += this.#inFlightBytes
    this.#inFlightBytes = 0
    this.#endWaits()
  }

  /** False: dropped, because too much is queued. */
  push(message: Outgoing): boolean {
    if (this.#waitingBytes > maxBytes) {
      this.dropped++
      message.onSettled?.(new Error('too many messages are queued for the broker'), false)
      return false
    }
    this.#queue.push(message)
    this.#waitingBytes += sizeOf(message)
    this.#pump()
    return true
  }

  /** `error`: the broker has refused it. */
  acknowledged(packetId: number, hasReader: boolean, error?: Error): void {
    const message = this.#inFlight.take(packetId)
    if (message === undefined) return
    this.#settle(message, hasReader, error)
    this.#pump()
    this.#tellRoom()
  }

  /** Gives up the largest unacknowledged message. False: there is none. */
  refuseLargest(error: Error): boolean {
    const message = this.#inFlight.takeLargest(sizeOf)
    if (message) this.#settle(message, false, error)
    return message !== undefined
  }

  #pump(): void {
    while (this.#mayHaveMore && this.#waiting > 0) {
      const [packetId, message] = this.#repeated.shift() ?? this.#take()
      const isRepeated = packetId !== undefined
      const id = packetId ?? this.#inFlight.freeId()
      this.#waitingBytes -= sizeOf(message)
      this.#inFlightBytes += sizeOf(message)
      const error = this.#deps.send(message, id, isRepeated)
      if (error === undefined) this.#inFlight.add(id, message)
      else this.#settle(message, false, error)
    }
    // Removing each one by itself would move all that are behind it.
    if (this.#next < few.messages && this.#next < this.#queue.length) return
    this.#queue = this.#queue.slice(this.#next)
    this.#next = 0
  }

  #take(): [undefined, Outgoing] {
    return [undefined, this.#queue[this.#next++] as Outgoing]
  }

  get #mayHaveMore(): boolean {
    return this.#inFlight.size < this.#window && this.#inFlightBytes < maxBytes
  }

  #isWithin({ messages, bytes }: { messages: number; bytes: number }): boolean {
    return this.#waiting < messages && this.#waitingBytes < bytes
  }

  get #waiting(): number {
    return this.#repeated.length + this.#queue.length - this.#next
  }

  #settle(message: Outgoing, hasReader: boolean, error: Error | undefined): void {
    this.#inFlightBytes -= sizeOf(message)
    if (error === undefined) this.sent++
    else this.#deps.onRefused(message, error)
    message.onSettled?.(error, hasReader)
  }

  #tellRoom(): void {
    if (!this.#wasFull || this.#window === 0 || !this.#isWithin(fewer)) return
    this.#wasFull = false
    this.#endWaits()
    this.#deps.onRoom()
  }

  #endWaits(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resume of waiters) resume()
  }
}

function sizeOf({ topic, payload }: Outgoing): number {
  return 2 * (topic.length + payload.length)
}
