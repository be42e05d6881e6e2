// One MQTT connection of a device: small, so that ten thousand of them fit into one process. It can be cut at any instant;
// pending operations then reject with LineClosed.

import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { topicPrefix } from '@jobcast/contract'
import { generate, type IPublishPacket, type Packet, parser, writeToStream } from 'mqtt-packet'
import { createWebSocketStream, WebSocket } from 'ws'

// Its cache of all two-byte numbers takes several megabytes.
writeToStream.cacheNumbers = false

export type SignIn = { deviceId: string; token: string; version?: 4 | 5; clientId?: string; from?: string }

/** JSON as the device received it. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
export type Json = any

export type Answer = { outcome: 'accepted' | 'rejected'; json: Json }

/** The CONNACK refused the sign-in. */
export class NotLetIn extends Error {
  readonly code: number
  constructor(code: number) {
    super(`CONNACK with ${code}`)
    this.code = code
  }
}

export class LineClosed extends Error {}

type Waiting = { resolve: (value: Json) => void; reject: (error: Error) => void }

let lastToken = 0

export class MqttLine {
  readonly prefix: string
  readonly stream: Duplex
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>
  isClosed = false
  /** Reason code of the server's DISCONNECT; only in MQTT 5. */
  disconnectCode: number | undefined
  /** Called for notifications, with the topic after the device's prefix. */
  onNotice: (suffix: string, json: Json) => void = () => undefined
  readonly #version: 4 | 5
  /** Pending responses of the server, by name. */
  readonly #owed = new Map<string, Waiting>()
  #packetId = 0

  private constructor(stream: Duplex, { deviceId, version = 5 }: SignIn) {
    this.stream = stream
    this.prefix = topicPrefix(deviceId)
    this.#version = version
    const parse = parser({ protocolVersion: version })
    parse.on('packet', (packet) => this.#take(packet))
    stream.on('data', (chunk) => parse.parse(chunk))
    stream.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      stream.once('close', () => {
        this.isClosed = true
        for (const { reject } of this.#owed.values()) reject(new LineClosed('the connection was closed'))
        this.#owed.clear()
        resolve()
      })
    })
  }

  /** Resolves when the device is signed in; `address` begins with mqtt or, for a WebSocket, with http. */
  static async open(address: string, signIn: SignIn): Promise<MqttLine> {
    const line = new MqttLine(openStream(address, signIn.from), signIn)
    const { deviceId, token, version = 5, clientId = deviceId } = signIn
    const answer = line.#owe('connack')
    line.send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: version,
      clean: true,
      clientId,
      keepalive: 0,
      username: deviceId,
      password: Buffer.from(token),
    })
    const code = await answer
    if (code !== 0) {
      line.stream.destroy()
      throw new NotLetIn(code)
    }
    return line
  }

  /** Takes filters without the device's prefix. */
  async subscribe(...suffixes: string[]): Promise<void> {
    const messageId = this.#nextId()
    const granted = this.#owe(`suback ${messageId}`)
    const subscriptions = suffixes.map((suffix) => ({ topic: this.prefix + suffix, qos: 1 as const }))
    this.send({ cmd: 'subscribe', messageId, subscriptions })
    const refused = (await granted).find((code: number) => code >= 0x80)
    if (refused !== undefined) throw new Error(`a subscription was refused with ${refused}`)
  }

  /** Publishes with QoS 1; resolves with the code of the PUBACK. */
  async publish(suffix: string, payload: object | string): Promise<number> {
    const messageId = this.#nextId()
    const acknowledged = this.#owe(`puback ${messageId}`)
    this.send(this.#publication(suffix, payload, 1, messageId))
    return acknowledged
  }

  /** Publishes with QoS 0, without an acknowledgement. */
  publishUnconfirmed(suffix: string, payload: object | string): void {
    this.send(this.#publication(suffix, payload, 0, undefined))
  }

  /** Publishes with QoS 1 and waits for the answer; subscribe to its topic before. */
  async request(suffix: string, fields: object): Promise<Answer> {
    lastToken++
    const clientToken = `${process.pid}-${lastToken}`
    const answered = this.#owe(clientToken)
    this.publish(suffix, { ...fields, clientToken }).catch(() => undefined)
    return answered
  }

  send(packet: Packet): void {
    if (this.stream.writable) this.stream.write(generate(packet, { protocolVersion: this.#version }))
  }

  /** Sends DISCONNECT. */
  end(): void {
    this.send({ cmd: 'disconnect', reasonCode: 0 })
    this.stream.end()
  }

  /** Acts as if the cable was pulled or the process was killed. */
  cut(): void {
    const { stream } = this
    if ('resetAndDestroy' in stream) (stream as Socket).resetAndDestroy()
    else stream.destroy()
  }

  #publication(
    suffix: string,
    payload: object | string,
    qos: 0 | 1,
    messageId: number | undefined,
  ): IPublishPacket {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const topic = this.prefix + suffix
    return {
      cmd: 'publish',
      topic,
      payload: text,
      qos,
      dup: false,
      retain: false,
      messageId,
    } as IPublishPacket
  }

  #owe(name: string): Promise<Json> {
    if (this.isClosed) return Promise.reject(new LineClosed('the connection is closed'))
    return new Promise((resolve, reject) => {
      this.#owed.set(name, { resolve, reject })
    })
  }

  #pay(name: string, value: Json): void {
    const owed = this.#owed.get(name)
    this.#owed.delete(name)
    owed?.resolve(value)
  }

  #nextId(): number {
    this.#packetId = (this.#packetId % 0xffff) + 1
    return this.#packetId
  }

  #take(packet: Packet): void {
    switch (packet.cmd) {
      case 'connack':
        this.#pay('connack', packet.reasonCode ?? packet.returnCode)
        return
      case 'suback':
        this.#pay(`suback ${packet.messageId}`, packet.granted)
        return
      case 'puback':
        this.#pay(`puback ${packet.messageId}`, packet.reasonCode ?? 0)
        return
      case 'disconnect':
        this.disconnectCode = packet.reasonCode ?? 0
        return
      case 'publish':
        this.#read(packet)
    }
  }

  #read({ topic, payload, qos, messageId }: IPublishPacket): void {
    if (qos === 1 && messageId) this.send({ cmd: 'puback', messageId, reasonCode: 0 })
    const suffix = topic.slice(this.prefix.length)
    const json = JSON.parse(payload.toString())
    const outcome = suffix.split('/').at(-1)
    if (outcome === 'accepted' || outcome === 'rejected') this.#pay(json.clientToken, { outcome, json })
    else this.onNotice(suffix, json)
  }
}

/** `from` is the local address: each 127.0.0.x has ports for 28,000 connections. */
function openStream(address: string, from: string | undefined): Duplex {
  const { protocol, hostname, port, host } = new URL(address)
  if (protocol === 'mqtt:') {
    return connect({ host: hostname, port: Number(port), noDelay: true, ...(from && { localAddress: from }) })
  }
  return createWebSocketStream(new WebSocket(`ws://${host}/mqtt`, 'mqtt'), { allowHalfOpen: false })
}
