// The connection to a broker, by mqtt.js: it reconnects with a backoff, keeps its session, and acknowledges a message when
// whoever served it says so.

import { Socket } from 'node:net'
import {
  connect,
  type ErrorWithReasonCode,
  ErrorWithSubackPacket,
  type IClientOptions,
  type MqttClient,
  ReasonCodes,
} from 'mqtt'
import { encodePuback } from '../mqtt/packets.ts'
import { AckOrder } from './ack-order.ts'
import type { BridgeSettings } from './bridge-settings.ts'
import { requestFilters } from './bridge-topics.ts'
import { InFlight } from './in-flight.ts'
import { Intake } from './intake.ts'
import { defaultWindow, type Outgoing, OutgoingQueue } from './outgoing.ts'

/** A message for us. `acknowledge`: after the commit, also of QoS 0. `isStale`: the broker sends it again, or has given it to another node. */
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
  /** It was up. */
  onLost(): void
  /** Whatever fails. `isNew`: otherwise than what failed before it. */
  onError(error: string, isNew: boolean): void
  onRoom(): void
}

const [firstDelayMs, longestDelayMs] = [500, 15_000]
const connectTimeoutMs = 10_000
const keepaliveSeconds = 15
const sessionExpirySeconds = 7 * 24 * 60 * 60
/** Requests that are being served; further ones wait at the broker. */
const receiveMaximum = 1000
/** More than may come with QoS 1 by MQTT 5: while nothing is read, acknowledgements and pings of the broker wait as well. */
const mostUnserved = { messages: 2 * receiveMaximum, bytes: 64 * 1024 * 1024 }
const crowdedAbove = 0.75
/** Larger ones are not sent to us at all; those beyond our own limit are rejected with words. */
const maximumPacketSize = 512 * 1024
const refused = 0x80
/** Of MQTT 3.1.1 and of MQTT 5: the broker does not speak this version. */
const unknownVersion = new Set([0x01, 0x84])
/** Header, lengths and number of a message. */
const packetOverhead = 16
const noSubscribers = 0x10
const packetTooLarge = 0x95
/** A broker may end the connection for one in a topic, and again when the message is repeated on the next one. */
const noncharacter = /\p{Noncharacter_Code_Point}/u
const goneWithinMs = 2000
/** The client goes on with the next message and does not acknowledge this one. */
const later = new Error('acknowledged later')

export class BrokerLink {
  readonly outgoing: OutgoingQueue
  readonly #deps: LinkDeps
  #client: MqttClient | undefined
  #acks = new AckOrder(() => undefined)
  #intake = new Intake(mostUnserved)
  #isUp = false
  #isRemoving = false
  #isStopped = false
  /** Why the connection ends was said. */
  #isExplained = false
  #lastError: string | undefined
  #retry: NodeJS.Timeout | undefined
  /** What one message of ours may have, by the broker. */
  #largest = Number.POSITIVE_INFINITY
  /** Acknowledged, though nobody has subscribed: MQTT 5 says so. */
  readonly #unread = new Set<number>()
  received = 0

  constructor(deps: LinkDeps) {
    this.#deps = deps
    this.outgoing = new OutgoingQueue({
      send: (message) => this.#publish(message),
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

  /** How long the oldest message has not been acknowledged. */
  get lagMs(): number {
    const { oldest } = this.#acks
    return oldest === undefined ? 0 : this.#deps.elapsed() - oldest
  }

  /** The broker will soon send nothing more, or nothing more is read, until something is served. */
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
    const inFlight = new InFlight(client)
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'connack') {
        this.#largest = packet.properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY
        this.#begin(client)
      }
      if (packet.cmd === 'puback' && packet.reasonCode === noSubscribers && packet.messageId !== undefined)
        this.#unread.add(packet.messageId)
    })
    client.on('connect', ({ properties }) => void this.#subscribe(client, properties?.receiveMaximum))
    client.on('error', (error) => {
      const isRemoved = this.#whileRemoving(() => inFlight.removeRefused(error))
      if (!isRemoved) {
        this.#connectFailed(client, error)
        return
      }
      // What came behind the invalid answer was not read.
      this.#isExplained = true
      client.stream.destroy()
    })
    client.on('disconnect', ({ reasonCode }) => {
      this.#isExplained = true
      if (reasonCode === packetTooLarge) this.#whileRemoving(() => inFlight.removeLargest())
      this.#failed(`the broker ended the connection (${reasonWords(reasonCode)})`)
    })
    client.on('close', () => this.#down(client))
    client.connect()
  }

  /** May be called twice. What was not acknowledged comes again. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    this.#acks.close()
    this.outgoing.close()
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    this.#isUp = false
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
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }
  }

  /** Messages of a session that is resumed may come right behind the CONNACK. */
  #begin(client: MqttClient): void {
    this.#acks.close()
    this.#unread.clear()
    this.#intake = new Intake(mostUnserved)
    const { stream } = client
    // Small answers would wait for the acknowledgement of earlier ones.
    if (stream instanceof Socket) stream.setNoDelay(true)
    this.#acks = new AckOrder((messageId) => stream.write(encodePuback(messageId), 'latin1'))
  }

  async #subscribe(client: MqttClient, window = defaultWindow): Promise<void> {
    const filters = requestFilters(this.#deps.settings.prefix)
    // Version 5 alone knows the last two: what is retained is not wanted, and is told from what is not.
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

  /** Its callback is called at once, with an error that does not say why. */
  #whileRemoving<T>(remove: () => T): T {
    this.#isRemoving = true
    try {
      return remove()
    } finally {
      this.#isRemoving = false
    }
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

  #publish({ topic, payload }: Outgoing): Promise<boolean> {
    const client = this.#client
    if (client === undefined) return Promise.reject(new Error('the bridge has stopped'))
    if (noncharacter.test(topic))
      return Promise.reject(new Error('MQTT allows no noncharacters of Unicode in a topic'))
    // The broker would end the connection, and again when the message is repeated on the next one.
    if (Buffer.byteLength(payload) + Buffer.byteLength(topic) + packetOverhead > this.#largest)
      return Promise.reject(new MessageTooLarge(`the broker takes no more than ${this.#largest} bytes`))
    return new Promise((resolve, reject) => {
      client.publish(topic, payload, { qos: 1 }, (error, packet) => {
        const isUnread = packet?.messageId !== undefined && this.#unread.delete(packet.messageId)
        if (this.#isRemoving) reject(new MessageTooLarge('the broker refused it as too large'))
        else if (error) reject(isTooLarge(error) ? new MessageTooLarge(wordsOf(error)) : error)
        else resolve(!isUnread)
      })
    })
  }
}

/** However often it is repeated. */
export class MessageTooLarge extends Error {}

function isTooLarge(error: Error): boolean {
  return 'code' in error && Number(error.code) === packetTooLarge
}

function reasonWords(code: number | undefined): string {
  const known: Readonly<Record<number, string>> = ReasonCodes
  return known[code ?? 0] || `reason ${code ?? 0}`
}

/** The client rejects if one of them is refused. */
function subscriptionWords(error: unknown, filters: readonly string[]): string {
  const granted = error instanceof ErrorWithSubackPacket ? (error.packet?.granted ?? []) : []
  const first = granted.findIndex((code) => Number(code) >= refused)
  return `the broker refused the subscription to ${filters[first] ?? filters.join(', ')} (${wordsOf(error)})`
}

/** Errors of sockets with several addresses have no text of their own. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
