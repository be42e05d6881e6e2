// A device that can send anything: packets of mqtt-packet, or raw bytes.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import {
  generate,
  type IConnackPacket,
  type IConnectPacket,
  type IPublishPacket,
  type Packet,
  parser,
} from 'mqtt-packet'
import { deviceId, type ListenerUnderTest } from './listener-under-test.ts'

export type Version = 4 | 5

export class RawDevice {
  readonly socket: Socket
  readonly version: Version
  /** Resolves when the listener has closed the connection. */
  readonly closed: Promise<unknown>
  readonly #received: Packet[] = []
  #wake: () => void = () => undefined
  #isClosed = false

  constructor(socket: Socket, version: Version) {
    this.socket = socket
    this.version = version
    this.closed = once(socket, 'close')
    const parsing = parser({ protocolVersion: version })
    parsing.on('packet', (packet) => {
      this.#received.push(packet)
      this.#wake()
    })
    socket.on('data', (chunk: Buffer) => parsing.parse(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  send(...packets: (Packet | Uint8Array)[]): void {
    const bytes = packets.map((packet) =>
      packet instanceof Uint8Array ? packet : generate(packet, { protocolVersion: this.version }),
    )
    this.socket.write(Buffer.concat(bytes))
  }

  /** The next packet; undefined when the connection was closed instead. */
  async next(): Promise<Packet | undefined> {
    while (this.#received.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#received.shift()
  }

  async nextPublish(): Promise<{
    topic: string
    json: Record<string, unknown>
    qos: number
    messageId: number
  }> {
    const packet = (await this.next()) as IPublishPacket | undefined
    if (packet?.cmd !== 'publish') throw new Error(`no publish but ${JSON.stringify(packet)}`)
    const { topic, payload, qos, messageId = 0 } = packet
    return { topic, json: JSON.parse(payload.toString()), qos, messageId }
  }

  /** Everything that comes until the listener closes the connection. */
  async packetsUntilClosed(): Promise<Packet[]> {
    await this.closed
    return this.#received.splice(0)
  }

  connect(options: Partial<IConnectPacket> = {}): void {
    this.send(connectPacket(this.version, options))
  }

  async subscribe(...topics: string[]): Promise<Packet | undefined> {
    this.send({ cmd: 'subscribe', messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) })
    return await this.next()
  }

  publish(topic: string, payload: unknown = {}, messageId?: number): void {
    const qos = messageId === undefined ? 0 : 1
    const text = typeof payload === 'string' || payload instanceof Buffer ? payload : JSON.stringify(payload)
    const packet: Packet = { cmd: 'publish', topic, payload: text, qos, dup: false, retain: false }
    this.send(messageId === undefined ? packet : { ...packet, messageId })
  }
}

export function connectPacket(version: Version, options: Partial<IConnectPacket> = {}): IConnectPacket {
  return { cmd: 'connect', protocolVersion: version, clientId: 'c1', clean: true, keepalive: 60, ...options }
}

async function openSocket(t: TestContext, { port }: { port: number }): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

export async function openRawDevice(t: TestContext, listener: ListenerUnderTest, version: Version = 4) {
  return new RawDevice(await openSocket(t, listener), version)
}

/** Signed in as d1. */
export async function openDevice(
  t: TestContext,
  listener: ListenerUnderTest,
  version: Version = 4,
  options: Partial<IConnectPacket> = {},
): Promise<RawDevice & { connack: IConnackPacket }> {
  const device = await openRawDevice(t, listener, version)
  device.connect({ username: deviceId, password: Buffer.from(listener.backend.token.text), ...options })
  const connack = (await device.next()) as IConnackPacket
  return Object.assign(device, { connack })
}
