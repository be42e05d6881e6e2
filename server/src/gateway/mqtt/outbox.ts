// What goes out to one device: within the packet size it takes, and no more unconfirmed publishes than it takes.

import type { Packet } from 'mqtt-packet'
import type { SteadyInstant } from '../../domain/instants.ts'
import type { ByteStream } from './byte-stream.ts'
import { encodePublish } from './encode-publish.ts'
import { encodePacket } from './packets.ts'
import type { ProtocolVersion } from './reason.ts'

/** Beyond this the device reads too slowly to be told more. */
const maxWaitingBytes = 64 * 1024
/** What belongs together is begun below the one limit and may go on up to this one; beyond it is dropped. */
const mostWaitingBytes = 1024 * 1024
const lastPacketId = 0xffff

export type OutboxTerms = {
  version: ProtocolVersion
  /** Larger packets are not sent. */
  maxPacketSize: number
  /** How many publishes with QoS 1 may be unconfirmed. */
  window: number
}

export class Outbox {
  readonly #stream: ByteStream
  readonly #terms: OutboxTerms
  /** Publishes that the device has not confirmed, each with the executions it names. */
  #unconfirmed: Map<number, readonly number[]> | undefined
  #packetId = 0
  #written = 0
  #taken: number | undefined
  #takenAt = 0

  constructor(stream: ByteStream, terms: OutboxTerms) {
    this.#stream = stream
    this.#terms = terms
  }

  /** True also when nobody reads any more: what is written then is dropped. */
  get hasRoom(): boolean {
    return !this.#stream.writable || this.#stream.writableLength <= maxWaitingBytes
  }

  get takesNotices(): boolean {
    return this.#stream.writable && this.hasRoom && this.#hasWindow
  }

  send(packet: Packet): void {
    this.#write(encodePacket(this.#terms.version, packet))
  }

  /**
   * With QoS 0 while the window is full: an answer that waited would hold up the confirmations behind the request,
   * and of notices that belong together one would be missing.
   */
  publish(topic: string, json: string, qos: 0 | 1, jobExecutionIds: readonly number[]): void {
    const isConfirmed = qos === 1 && this.#hasWindow
    const packetId = isConfirmed ? this.#nextPacketId() : 0
    const bytes = encodePublish(this.#terms.version, topic, json, isConfirmed ? 1 : 0, packetId)
    if (bytes === undefined || !this.#write(bytes) || !isConfirmed) return
    this.#unconfirmed ??= new Map()
    this.#unconfirmed.set(packetId, jobExecutionIds)
  }

  /** The executions that were named in what is confirmed; undefined if there was no such publish. */
  confirm(packetId: number): readonly number[] | undefined {
    const jobExecutionIds = this.#unconfirmed?.get(packetId)
    this.#unconfirmed?.delete(packetId)
    return jobExecutionIds
  }

  /** How long something has been waiting without the network taking any of it. Asked regularly. */
  stuckMs(clock: SteadyInstant): number {
    const waiting = this.#stream.writableLength
    const taken = this.#written - waiting
    if (waiting === 0 || taken !== this.#taken) {
      this.#taken = taken
      this.#takenAt = clock
    }
    return clock - this.#takenAt
  }

  get #hasWindow(): boolean {
    return this.#unconfirmed === undefined || this.#unconfirmed.size < this.#terms.window
  }

  #nextPacketId(): number {
    do this.#packetId = (this.#packetId % lastPacketId) + 1
    while (this.#unconfirmed?.has(this.#packetId))
    return this.#packetId
  }

  #write(bytes: Buffer): boolean {
    if (!this.#stream.writable || this.#stream.writableLength > mostWaitingBytes) return false
    if (bytes.length > this.#terms.maxPacketSize) return false
    this.#written += bytes.length
    this.#stream.write(bytes)
    return true
  }
}
