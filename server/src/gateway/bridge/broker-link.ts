// The connection to a broker, by mqtt.js: it reconnects with a backoff, keeps its session, and acknowledges each message when
// its handler calls `acknowledge`. What is published is written to its stream, because mqtt.js would copy, store and write
// each message by itself, which takes several times the CPU.

import { Socket } from 'node:net'
import {
  connect,
  type ErrorWithReasonCode,
  ErrorWithSubackPacket,
  type IClientOptions,
  type MqttClient,
  ReasonCodes,
} from 'mqtt'
import type { IPubackPacket } from 'mqtt-packet'
import { asRepeated, encodePublish } from '../mqtt/encode-publish.ts'
import { encodePuback } from '../mqtt/packets.ts'
import { AckOrder } from './ack-order.ts'
import type { BridgeSettings } from './bridge-settings.ts'
import { requestFilters } from './bridge-topics.ts'
import { wordsOf } from './error-words.ts'
import { lastPacketId } from './in-flight.ts'
import { Intake } from './intake.ts'
import { defaultWindow, type Outgoing, OutgoingQueue } from './outgoing.ts'
import { TurnWriter } from './turn-writer.ts'

/**
 * A received message. Call `acknowledge` after the commit, also for QoS 0. `isStale`: the broker resends it, here or to
 * another node.
 */
export type Incoming = {
  topic: string
  payload: Buffer
  isRetained: boolean
  acknowledge(): void
  readonly isStale: boolean
}

type LinkDeps = {
  settings: BridgeSettings
  /** Monotonic milliseconds. */
  elapsed: () => number
  receive(message: Incoming): void
  /** Connected and subscribed. */
  onUp(): void
  /** The connection was up, and is lost. */
  onLost(): void
  /** Called for every failure. `isNew`: it differs from the previous one. */
  onError(error: string, isNew: boolean): void
  onRoom(): void
}

const [firstDelayMs, longestDelayMs] = [500, 15_000]
const connectTimeoutMs = 10_000
const keepaliveSeconds = 15
const sessionExpirySeconds = 7 * 24 * 60 * 60
/** Maximum number of requests in flight; further ones wait at the broker. */
const receiveMaximum = 1000
/** Above the `receiveMaximum` of MQTT 5: while reading is paused, acknowledgements and pings of the broker wait as well. */
const mostUnserved = { messages: 2 * receiveMaximum, bytes: 64 * 1024 * 1024 }
const crowdedAbove = 0.75
/** The broker does not send larger packets at all; packets above our own limit get an error answer. */
const maximumPacketSize = 512 * 1024
const refused = 0x80
/** "Unsupported protocol version", in MQTT 3.1.1 and in MQTT 5. */
const unknownVersion = new Set([0x01, 0x84])
/** mqtt.js sends nothing else that has an identifier, and one at a time. */
const subscribeId = lastPacketId + 1
const subscribeIds: IClientOptions['messageIdProvider'] & object = {
  allocate: () => subscribeId,
  getLastAllocated: () => subscribeId,
  register: () => true,
  deallocate: () => undefined,
  clear: () => undefined,
}
const noSubscribers = 0x10
const packetTooLarge = 0x95
/**
 * The error text of mqtt.js. Mosquitto refuses messages above its `message_size_limit` with a reason code that MQTT defines for
 * connections only.
 */
const invalidPuback = 'Invalid puback reason code'
/** A broker may close the connection because of one in a topic, and again after each reconnect. */
const noncharacter = /\p{Noncharacter_Code_Point}/u
const goneWithinMs = 2000
/** Makes the client continue with the next message without acknowledging this one. */
const later = new Error('acknowledged later')

export class BrokerLink {
  readonly outgoing: OutgoingQueue
  readonly #deps: LinkDeps
  #client: MqttClient | undefined
  #acks = new AckOrder(() => undefined)
  #intake = new Intake(mostUnserved)
  #isUp = false
  #isStopped = false
  /** The reason of the disconnect was already reported. */
  #isExplained = false
  #lastError: string | undefined
  #retry: NodeJS.Timeout | undefined
  /** The broker's limit for a packet, in bytes. */
  #largest = Number.POSITIVE_INFINITY
  #writer: TurnWriter | undefined
  received = 0

  constructor(deps: LinkDeps) {
    this.#deps = deps
    this.outgoing = new OutgoingQueue({
      send: (message, packetId, isRepeated) => this.#publish(message, packetId, isRepeated),
      onRefused: ({ topic }, error) => this.#failed(`a message on ${topic} was refused: ${wordsOf(error)}`),
      onRoom: () => deps.onRoom(),
    })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Age of the oldest unacknowledged message. */
  get lagMs(): number {
    const { oldest } = this.#acks
    return oldest === undefined ? 0 : this.#deps.elapsed() - oldest
  }

  /** The broker will soon stop sending, or we will stop reading, until requests are served. */
  get isCrowded(): boolean {
    return Math.max(this.#acks.size / receiveMaximum, this.#intake.load) > crowdedAbove
  }

  start(): void {
    const client = connect(this.#deps.settings.url, this.#options())
    this.#client = client
    // Before the connection is up: with a session, messages come with its first bytes.
    client.handleMessage = ({ topic, payload, qos, messageId = 0, retain }, done) => {
      const acks = this.#acks
      const intake = this.#intake
      const served = intake.add(topic.length + payload.length)
      const acknowledge = qos === 0 ? () => undefined : acks.add(messageId, this.#deps.elapsed())
      this.received++
      this.#deps.receive({
        topic,
        payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload),
        isRetained: retain,
        acknowledge() {
          acknowledge()
          served()
        },
        get isStale() {
          return acks.isClosed
        },
      })
      intake.whenRoom(() => done(qos === 0 ? undefined : later))
    }
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'connack') {
        this.#largest = packet.properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY
        this.#begin(client)
      }
      if (packet.cmd === 'puback') this.#acknowledged(packet)
    })
    client.on('connect', ({ properties }) => void this.#subscribe(client, properties?.receiveMaximum))
    client.on('error', (error) => {
      const isRefused = error.message === invalidPuback && this.outgoing.refuseLargest(rejectedAsTooLarge())
      if (!isRefused) {
        this.#connectFailed(client, error)
        return
      }
      // Data behind the invalid answer was not read.
      this.#isExplained = true
      client.stream.destroy()
    })
    client.on('disconnect', ({ reasonCode }) => {
      this.#isExplained = true
      if (reasonCode === packetTooLarge) this.outgoing.refuseLargest(rejectedAsTooLarge())
      this.#failed(`the broker ended the connection (${reasonWords(reasonCode)})`)
    })
    client.on('close', () => this.#down(client))
    client.connect()
  }

  /** May be called twice. Unacknowledged messages are delivered again. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    this.#writer?.flush()
    this.#acks.close()
    this.outgoing.close()
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    this.#isUp = false
    // mqtt.js would connect again if it is ended while it connects: `manualConnect` makes it forget that it was ended before the
    // stream has closed.
    client.options.reconnectPeriod = 0
    const cut = setTimeout(() => client.stream?.destroy(), goneWithinMs)
    await client.endAsync(true).catch(() => undefined)
    clearTimeout(cut)
  }

  #options(): IClientOptions {
    const { clientId, user, password, ca, cert, key } = this.#deps.settings
    return {
      manualConnect: true,
      protocolVersion: 5,
      clientId,
      clean: false,
      properties: { sessionExpiryInterval: sessionExpirySeconds, receiveMaximum, maximumPacketSize },
      resubscribe: false,
      reconnectOnConnackError: true,
      reconnectPeriod: firstDelayMs,
      connectTimeout: connectTimeoutMs,
      keepalive: keepaliveSeconds,
      queueQoSZero: false,
      messageIdProvider: subscribeIds,
      // By default, each packet goes through several calls of the library "debug".
      log: () => undefined,
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }
  }

  /** Messages of a resumed session may come right behind the CONNACK. */
  #begin(client: MqttClient): void {
    this.#acks.close()
    this.#intake = new Intake(mostUnserved)
    const { stream } = client
    // Otherwise small answers would wait for the acknowledgement of earlier ones (Nagle).
    if (stream instanceof Socket) stream.setNoDelay(true)
    const writer = new TurnWriter(stream)
    this.#writer = writer
    this.#acks = new AckOrder((messageId) => writer.write(encodePuback(messageId)))
  }

  async #subscribe(client: MqttClient, window = defaultWindow): Promise<void> {
    const filters = requestFilters(this.#deps.settings.prefix)
    // The last two exist in MQTT 5 only: do not send retained messages, and keep the retain flag of the others.
    const wanted = Object.fromEntries(filters.map((each) => [each, { qos: 1, rh: 2, rap: true }] as const))
    try {
      await client.subscribeAsync(wanted)
    } catch (error) {
      if (client !== this.#client || !client.connected) return
      this.#failed(subscriptionWords(error, filters))
      this.#delay(client)
      this.#retry = setTimeout(() => client.stream.destroy(), 1)
      return
    }
    if (client !== this.#client || !client.connected) return
    this.#isUp = true
    this.#lastError = undefined
    client.options.reconnectPeriod = firstDelayMs
    this.outgoing.open(window)
    this.#deps.onUp()
  }

  #connectFailed(client: MqttClient, error: Error | ErrorWithReasonCode): void {
    const code = 'code' in error ? error.code : undefined
    if (typeof code === 'number' && unknownVersion.has(code) && client.options.protocolVersion === 5) {
      client.options.protocolVersion = 4
      delete client.options.properties
    }
    this.#failed(wordsOf(error))
  }

  #down(client: MqttClient): void {
    if (client !== this.#client) return
    this.#acks.close()
    this.#writer?.close()
    this.outgoing.close()
    this.#delay(client)
    const wasUp = this.#isUp
    const isExplained = this.#isExplained
    this.#isUp = false
    this.#isExplained = false
    if (wasUp) this.#deps.onLost()
    if (wasUp && !isExplained) this.#failed('the connection was lost')
    else if (this.#lastError === undefined) this.#failed('the broker closed the connection')
  }

  #delay({ options }: MqttClient): void {
    if (this.#isUp) return
    options.reconnectPeriod = Math.min(longestDelayMs, 2 * (options.reconnectPeriod ?? firstDelayMs))
  }

  #failed(error: string): void {
    const isNew = error !== this.#lastError
    this.#lastError = error
    if (!this.#isStopped) this.#deps.onError(error, isNew)
  }

  /** Returns an error if it cannot be sent. */
  #publish({ topic, payload }: Outgoing, packetId: number, isRepeated: boolean): Error | undefined {
    if (noncharacter.test(topic)) return new Error('MQTT allows no noncharacters of Unicode in a topic')
    const version = this.#client?.options.protocolVersion === 5 ? 5 : 4
    const packet = encodePublish(version, topic, payload, 1, packetId)
    if (packet === undefined) return new MessageTooLarge('MQTT allows topics of at most 65535 bytes')
    // The broker would close the connection, and again after each reconnect.
    if (packet.length > this.#largest)
      return new MessageTooLarge(`the broker accepts at most ${this.#largest} bytes`)
    this.#writer?.write(isRepeated ? asRepeated(packet) : packet)
    return undefined
  }

  /** MQTT 3.1.1 has no reason codes. */
  #acknowledged({ messageId = 0, reasonCode = 0 }: IPubackPacket): void {
    if (reasonCode < refused) this.outgoing.acknowledged(messageId, reasonCode !== noSubscribers)
    else this.outgoing.acknowledged(messageId, false, new Error(`Publish error: ${reasonWords(reasonCode)}`))
  }
}

/** Retrying does not help. */
export class MessageTooLarge extends Error {}

function rejectedAsTooLarge(): MessageTooLarge {
  return new MessageTooLarge('the broker rejected the message as too large')
}

function reasonWords(code: number | undefined): string {
  const known: Readonly<Record<number, string>> = ReasonCodes
  return known[code ?? 0] || `reason ${code ?? 0}`
}

/** The client rejects if any of the filters is refused. */
function subscriptionWords(error: unknown, filters: readonly string[]): string {
  const granted = error instanceof ErrorWithSubackPacket ? (error.packet?.granted ?? []) : []
  const first = granted.findIndex((code) => Number(code) >= refused)
  return `the broker refused the subscription to ${filters[first] ?? filters.join(', ')} (${wordsOf(error)})`
}
