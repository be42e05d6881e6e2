// One MQTT connection from sign-in to its end. It never reconnects: the transport opens a new link, and unanswered
// requests are repeated there.

import { randomUUID } from 'node:crypto'
import { type DeviceOperation, shadowPrefix, topicPrefix } from '@jobcast/contract'
import {
  connect,
  type ErrorWithReasonCode,
  type IClientPublishOptions,
  type IDisconnectPacket,
  type MqttClient,
} from 'mqtt'
import type { Certificate } from '../device/read-certificate.ts'
import { maxAnswerBytes } from './http-call.ts'
import { orAborted } from './or-aborted.ts'
import { PacketLimit } from './packet-limit.ts'
import { type Answer, NoAnswer, parseObject, rejectionOf } from './transport.ts'

type LinkOptions = {
  url: string
  deviceId: string
  /** Empty: it signs in with its certificate alone. */
  token: string
  /** The prefix of topics on the user's own broker. Undefined: connected to the service itself. */
  topicPrefix?: string | undefined
  certificate?: Certificate | undefined
  /** Called for every message in order of arrival; `suffix` is the topic without the device's prefix. */
  onMessage: (suffix: string, json: Record<string, unknown>) => void
}

/** The server refused this token; another one may be accepted. */
export class SignInRefused extends Error {}

const filters = ['notify-next', '+/cancel', 'start-next/+', '+/get/+', '+/update/+', '+/output/+']
const keepAliveSeconds = 30
/** The same limit as for an answer over HTTP. */
const maxPacketBytes = maxAnswerBytes
const connectWithinMs = 20_000
/** A server that takes longer counts as unreachable. */
const answerWithinMs = 30_000
const disconnectWithinMs = 1000
/** The answer confirms that the request is stored, so the publish itself needs no acknowledgement. */
const atMostOnce = { qos: 0 } as const
/** The user's broker keeps a request for a service that restarts, but not longer than the agent waits for the answer. */
const keptByBroker = { qos: 1, properties: { messageExpiryInterval: answerWithinMs / 1000 } } as const
// MQTT 5: bad user name or password, not authorized.
const refusalCodes = new Set([0x86, 0x87])

type Waiting = { resolve: (answer: Answer) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }

export class MqttLink {
  /** Resolves with the reason when the connection is closed, by either side. */
  readonly closed: Promise<string>
  readonly #client: MqttClient
  readonly #prefix: string
  readonly #shadowPrefix: string
  readonly #delivery: IClientPublishOptions
  #hasShadow = false
  readonly #onMessage: LinkOptions['onMessage']
  readonly #waiting = new Map<string, Waiting>()
  readonly #tokenPrefix = randomUUID().slice(0, 8)
  #lastToken = 0
  #error: Error | undefined

  private constructor(options: LinkOptions) {
    const { url, deviceId, token, topicPrefix: prefix, certificate, onMessage } = options
    this.#prefix = topicPrefix(deviceId, prefix)
    this.#shadowPrefix = shadowPrefix(deviceId, prefix)
    this.#onMessage = onMessage
    this.#delivery = prefix === undefined ? atMostOnce : keptByBroker
    this.#client = connect({
      ...addressOf(url),
      protocolVersion: 5,
      clean: true,
      clientId: `jobcast-agent-${deviceId}`,
      ...(token !== '' && { username: deviceId, password: token }),
      ...certificate,
      keepalive: keepAliveSeconds,
      connectTimeout: connectWithinMs,
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      // The cache would be a table of all packet numbers: 10 MB.
      writeCache: false,
      // Messages are too short to compress. A frame has the same limit as a packet.
      wsOptions: { perMessageDeflate: false, maxPayload: maxPacketBytes },
      properties: { maximumPacketSize: maxPacketBytes },
    })
    const limit = new PacketLimit(maxPacketBytes)
    this.#client.stream.on('data', (chunk: Buffer) => {
      if (!limit.accepts(chunk))
        this.#fail(new Error(`the server sent a packet of more than ${maxPacketBytes} bytes`))
    })
    this.#client.on('message', (topic, payload) => this.#take(topic, payload))
    this.#client.on('error', (error) => this.#fail(error))
    this.#client.on('disconnect', (packet) => this.#fail(new Error(disconnectText(packet))))
    this.closed = new Promise((resolve) => {
      this.#client.on('close', () => {
        for (const { reject, timer } of this.#waiting.values()) {
          clearTimeout(timer)
          reject(new NoAnswer('the connection was lost'))
        }
        this.#waiting.clear()
        resolve(this.#error?.message ?? 'the connection was lost')
      })
    })
  }

  /** Resolves when the device is signed in and has subscribed. */
  static async open(options: LinkOptions, signal: AbortSignal): Promise<MqttLink> {
    const link = new MqttLink(options)
    const lost = link.closed.then(() => {
      throw link.#error ?? new Error('the connection was lost')
    })
    try {
      const connected = new Promise<void>((resolve) => link.#client.once('connect', () => resolve()))
      await orAborted(Promise.race([connected, lost]), signal)
      // QoS 1, so that the server can record when a notification was delivered.
      const wanted = filters.map((suffix) => link.#prefix + suffix)
      await orAborted(Promise.race([link.#client.subscribeAsync(wanted, { qos: 1 }), lost]), signal)
      await orAborted(Promise.race([link.#subscribeShadow(), lost]), signal)
      return link
    } catch (error) {
      link.destroy()
      // The error that ended the connection says more than the failed request.
      throw link.#error ?? error
    }
  }

  /** A server without shadows refuses the subscription; then attributes are not reported. */
  async #subscribeShadow(): Promise<void> {
    const granted = await this.#client
      .subscribeAsync(`${this.#shadowPrefix}update/+`, { qos: 1 })
      .catch(() => undefined)
    this.#hasShadow = granted !== undefined
  }

  request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    if (operation.name === 'attributes' && !this.#hasShadow) {
      const message = 'the server does not accept attributes'
      return Promise.resolve({ outcome: 'rejected', code: 'InvalidTopic', message, json: {} })
    }
    return new Promise((resolve, reject) => {
      if (!this.#client.connected) throw new NoAnswer('there is no connection')
      this.#lastToken++
      // Unique across connections: the server treats a report with the same token as a repetition.
      const clientToken = `${this.#tokenPrefix}-${this.#lastToken}`
      const timer = setTimeout(() => {
        this.#error ??= new Error('the server did not answer')
        this.destroy()
      }, answerWithinMs)
      this.#waiting.set(clientToken, { resolve, reject, timer })
      const isShadow = operation.name === 'attributes'
      const topic = isShadow ? `${this.#shadowPrefix}update` : this.#prefix + suffixOf(operation)
      this.#client.publish(topic, JSON.stringify({ ...fields, clientToken }), this.#delivery)
    })
  }

  /** Sends DISCONNECT if the connection still works. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), disconnectWithinMs)
    await this.#client.endAsync().catch(() => undefined)
    clearTimeout(timer)
  }

  destroy(): void {
    this.#client.end(true)
    // If a DISCONNECT is already pending, `end` does nothing.
    this.#client.stream?.destroy()
  }

  #fail(error: Error): void {
    const { code } = error as Partial<ErrorWithReasonCode>
    const isRefusal = typeof code === 'number' && refusalCodes.has(code)
    this.#error ??= isRefusal ? new SignInRefused('unknown device or invalid token') : error
    this.destroy()
  }

  #take(topic: string, payload: Buffer): void {
    const json = parseObject(payload.toString())
    const prefix = [this.#prefix, this.#shadowPrefix].find((each) => topic.startsWith(each))
    if (json === undefined || prefix === undefined) return
    const suffix = topic.slice(prefix.length)
    if (prefix === this.#prefix) this.#onMessage(suffix, json)
    const answer = answerOf(suffix, json)
    const { clientToken } = json
    const waiting = typeof clientToken === 'string' ? this.#waiting.get(clientToken) : undefined
    if (waiting === undefined || answer === undefined) return
    this.#waiting.delete(clientToken as string)
    clearTimeout(waiting.timer)
    waiting.resolve(answer)
  }
}

const defaultPorts: Record<string, number> = { mqtt: 1883, mqtts: 8883, ws: 80, wss: 443 }

/** The library would parse a string with a deprecated function of Node, which costs a warning on stderr and a megabyte. */
function addressOf(address: string) {
  const { protocol: scheme, hostname: name, port, pathname, search } = new URL(address)
  const protocol = scheme.slice(0, -1) as 'mqtt' | 'mqtts' | 'ws' | 'wss'
  // The library rebuilds a WebSocket's URL from this; a socket needs an IPv6 address without brackets.
  const host = protocol.startsWith('ws') ? name : name.replace(/^\[|\]$/g, '')
  const path = `${pathname || '/'}${search}`
  return { protocol, host, hostname: host, port: Number(port) || (defaultPorts[protocol] as number), path }
}

function suffixOf(operation: DeviceOperation): string {
  switch (operation.name) {
    case 'describe':
      return `${operation.jobId}/get`
    case 'update':
    case 'output':
      return `${operation.jobId}/${operation.name}`
    default:
      return operation.name
  }
}

function answerOf(suffix: string, json: Record<string, unknown>): Answer | undefined {
  if (suffix.endsWith('/accepted')) return { outcome: 'accepted', json }
  return suffix.endsWith('/rejected') ? rejectionOf(json, json.code) : undefined
}

const sessionTakenOver = 0x8e

function disconnectText({ reasonCode = 0 }: IDisconnectPacket): string {
  return reasonCode === sessionTakenOver
    ? 'another connection signed in as this device'
    : `the server closed the connection (code ${reasonCode})`
}
