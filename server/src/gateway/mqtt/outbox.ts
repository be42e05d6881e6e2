// Packets to one device, as strings with one character per byte, within its maximum packet size and its limit of unacknowledged
// publishes.

import type { Packet } from 'mqtt-packet'
import type { SteadyInstant } from '../../domain/common/instants.ts'
import type { ByteStream } from './byte-stream.ts'
import { encodePublish } from './encode-publish.ts'
import { encodePacket, encodePuback, pingresp } from './packets.ts'
import type { ProtocolVersion } from './reason.ts'

/** Above this the device reads too slowly to be sent more. */
const maxWaitingBytes = 64 * 1024
/** Related packets start below the first limit and may continue up to this one; above it they are dropped. */
const mostWaitingBytes = 1024 * 1024
const lastPacketId = 0xffff

export type OutboxTerms = {
  version: ProtocolVersion
  /** Larger packets are dropped. */
  maxPacketSize: number
  /** Maximum number of unacknowledged QoS 1 publishes. */
  window: number
}

export class Outbox {
  readonly #stream: ByteStream
  readonly #terms: OutboxTerms
  /** The executions named in the unacknowledged publish `#firstId`; undefined: no publish is unacknowledged. */
  #first: readonly number[] | undefined
  #firstId = 0
  /** Further unacknowledged publishes. Most devices acknowledge one before the next is sent. */
  #more: Map<number, readonly number[]> | undefined
  #packetId = 0
  #written = 0
  #sent: number | undefined
  #progressAt = 0
  /** Packets waiting for `flush`; undefined: packets are sent one by one. */
  #gathered: string | undefined

  constructor(stream: ByteStream, terms: OutboxTerms) {
    this.#stream = stream
    this.#terms = terms
  }

  /** Also true when the connection is closed: writes are then dropped. */
  get hasRoom(): boolean {
    return !this.#stream.writable || this.#waitingBytes <= maxWaitingBytes
  }

  get acceptsNotices(): boolean {
    return this.#stream.writable && this.hasRoom && this.#hasWindow
  }

  send(packet: Packet): void {
    this.#write(encodePacket(this.#terms.version, packet).toString('latin1'))
  }

  /** Packets wait for `flush`: encoding ten thousand first and then writing them is faster than one by one. */
  gather(): void {
    this.#gathered ??= ''
  }

  flush(): void {
    const gathered = this.#gathered
    this.#gathered = undefined
    if (gathered) this.#put(gathered)
  }

  puback(messageId: number): void {
    this.#write(encodePuback(messageId))
  }

  /** Sends everything that `write` writes at once. */
  together(write: () => void): void {
    this.gather()
    write()
    this.flush()
  }

  pong(): void {
    this.#write(pingresp)
  }

  /**
   * Sent with QoS 0 while the window is full: a delayed answer would block the acknowledgements behind it, and one of
   * several related notices would be missing.
   */
  publish(
    topic: string,
    json: string,
    qos: 0 | 1,
    jobExecutionIds: readonly number[],
    traceParent?: string,
  ): void {
    const isAcknowledged = qos === 1 && this.#hasWindow
    const packetId = isAcknowledged ? this.#nextPacketId() : 0
    const { version } = this.#terms
    const bytes = encodePublish(version, topic, json, isAcknowledged ? 1 : 0, packetId, traceParent)
    if (bytes === undefined || !this.#write(bytes) || !isAcknowledged) return
    if (this.#first === undefined) {
      this.#first = jobExecutionIds
      this.#firstId = packetId
    } else {
      this.#more ??= new Map()
      this.#more.set(packetId, jobExecutionIds)
    }
  }

  /** The executions named in the acknowledged publish; undefined if there was none. */
  acknowledge(packetId: number): readonly number[] | undefined {
    if (this.#first !== undefined && packetId === this.#firstId) {
      const jobExecutionIds = this.#first
      this.#first = undefined
      return jobExecutionIds
    }
    const jobExecutionIds = this.#more?.get(packetId)
    if (this.#more?.delete(packetId) && this.#more.size === 0) this.#more = undefined
    return jobExecutionIds
  }

  /** How long output has been waiting without any progress. Called regularly. */
  stuckMs(clock: SteadyInstant): number {
    const waiting = this.#waitingBytes
    const sent = this.#written - waiting
    if (waiting === 0 || sent !== this.#sent) {
      this.#sent = sent
      this.#progressAt = clock
    }
    return clock - this.#progressAt
  }

  get #hasWindow(): boolean {
    const unacknowledged = (this.#first === undefined ? 0 : 1) + (this.#more?.size ?? 0)
    return unacknowledged < this.#terms.window
  }

  #nextPacketId(): number {
    do this.#packetId = (this.#packetId % lastPacketId) + 1
    while (this.#isUnacknowledged(this.#packetId))
    return this.#packetId
  }

  #isUnacknowledged(packetId: number): boolean {
    return (this.#first !== undefined && packetId === this.#firstId) || (this.#more?.has(packetId) ?? false)
  }

  get #waitingBytes(): number {
    return this.#stream.writableLength + (this.#gathered?.length ?? 0)
  }

  #write(packet: string): boolean {
    if (!this.#stream.writable || this.#waitingBytes > mostWaitingBytes) return false
    if (packet.length > this.#terms.maxPacketSize) return false
    this.#written += packet.length
    if (this.#gathered === undefined) this.#put(packet)
    else this.#gathered += packet
    return true
  }

  #put(packets: string): void {
    this.#stream.write(packets, 'latin1')
  }
}
