// One MQTT connection of a device, on a plain socket, so that ten thousand of them fit into one process.

import { connect, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type DeviceErrorCode, type DeviceStatus, topicPrefix } from '@jobcast/contract'
import type { IPublishPacket, Packet } from 'mqtt-packet'
import type { MqttAddress } from './mqtt-address.ts'
import { completePacketsEnd, encodePacket, parsePackets } from './packets.ts'

/** Without a token, it signs in without user name and password. The user name is the deviceId, unless it is given. */
export type Credential = { deviceId: string; deviceToken?: string | undefined; userName?: string | undefined }

export type Network = {
  address: MqttAddress
  /** Accepts a self-signed certificate, for a local test server. */
  trustAnyCertificate: boolean
  keepAliveSeconds: number
  /** The prefix of topics on a broker. */
  topicPrefix?: string | undefined
}

/** The fields of the server's messages that are used. */
export type DeviceMessage = {
  execution?: { jobId: string; executionNumber: number; jobDocument?: Record<string, unknown> }
  clientToken?: string
  code?: DeviceErrorCode
  executionState?: { status: DeviceStatus }
  deadlineSeconds?: number
}

/** `refused`: the token is void. `reason` is human-readable. */
export type LineEnd = { wasOpen: boolean; refused: boolean; reason: string }

type LineListener = {
  opened(): void
  said(suffix: string, message: DeviceMessage): void
  /** Called once, as the last callback. */
  closed(end: LineEnd): void
}

// Notifications use QoS 1, so that the owner sees that they were delivered; answers need no acknowledgement.
const filters = [
  { suffix: 'notify-next', qos: 1 },
  { suffix: '+/cancel', qos: 1 },
  { suffix: 'start-next/+', qos: 0 },
  { suffix: '+/update/+', qos: 0 },
  { suffix: '+/output/rejected', qos: 0 },
] as const

// Each read is processed completely before the next one, so all connections share this buffer.
const readBuffer = Buffer.allocUnsafe(64 * 1024)
const pingreq = encodePacket({ cmd: 'pingreq' })
const disconnect = encodePacket({ cmd: 'disconnect' })
// "Bad user name or password" and "not authorized".
const refusals = new Set<number | undefined>([4, 5])
const lastPacketId = 0xffff
const nothing = Buffer.alloc(0)

export class DeviceLine {
  readonly #prefix: string
  readonly #listener: LineListener
  readonly #socket: Socket
  #isOpen = false
  #hasReceived = true
  #incomplete: Buffer = nothing
  #packetId = 0
  #refused = false
  #reason = 'the connection was closed'

  constructor(network: Network, credential: Credential, listener: LineListener) {
    const { deviceId, deviceToken, userName = deviceId } = credential
    this.#prefix = topicPrefix(deviceId, network.topicPrefix)
    this.#listener = listener
    this.#socket = dial(network, { buffer: readBuffer, callback: (size) => this.#read(size) })
    this.#socket.on('error', (error) => {
      this.#reason = error.message
    })
    this.#socket.once('close', () => this.#closed())
    this.#send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: deviceId,
      keepalive: network.keepAliveSeconds,
      ...(deviceToken !== undefined && { username: userName, password: Buffer.from(deviceToken) }),
    })
  }

  /** With QoS 1. */
  publish(suffix: string, fields: object): void {
    this.#send({
      cmd: 'publish',
      topic: this.#prefix + suffix,
      payload: JSON.stringify(fields),
      qos: 1,
      dup: false,
      retain: false,
      messageId: this.#nextPacketId(),
    })
  }

  /** Call periodically: a server that was silent since the last ping counts as lost. */
  ping(): void {
    if (!this.#hasReceived) this.cut('the server was silent')
    this.#hasReceived = false
    if (this.#isOpen && this.#socket.writable) this.#socket.write(pingreq)
  }

  /** Sends DISCONNECT. */
  end(): void {
    if (!this.#isOpen) this.#socket.destroy()
    else if (this.#socket.writable) this.#socket.end(disconnect)
  }

  cut(reason: string): void {
    this.#reason = reason
    this.#socket.destroy()
  }

  #send(packet: Packet): void {
    if (this.#socket.writable) this.#socket.write(encodePacket(packet))
  }

  #read(size: number): boolean {
    this.#hasReceived = true
    const seen = readBuffer.subarray(0, size)
    const bytes = this.#incomplete.length === 0 ? seen : Buffer.concat([this.#incomplete, seen])
    const end = completePacketsEnd(bytes)
    try {
      for (const packet of parsePackets(bytes.subarray(0, end))) this.#take(packet)
    } catch (error) {
      this.cut(`invalid message from the server: ${(error as Error).message}`)
    }
    this.#incomplete = end === bytes.length ? nothing : Buffer.from(bytes.subarray(end))
    return true
  }

  #take(packet: Packet): void {
    switch (packet.cmd) {
      case 'connack':
        if (packet.returnCode === 0) this.#subscribe()
        else this.#turnedAway(packet.returnCode)
        return
      case 'suback':
        this.#isOpen = true
        this.#listener.opened()
        return
      case 'publish':
        this.#heard(packet)
    }
  }

  #subscribe(): void {
    const subscriptions = filters.map(({ suffix, qos }) => ({ topic: this.#prefix + suffix, qos }))
    this.#send({ cmd: 'subscribe', messageId: this.#nextPacketId(), subscriptions })
  }

  #turnedAway(returnCode: number | undefined): void {
    this.#refused = refusals.has(returnCode)
    this.cut(`the server refused the connection (${returnCode})`)
  }

  #heard({ topic, payload, qos, messageId }: IPublishPacket): void {
    if (qos === 1 && messageId !== undefined) this.#send({ cmd: 'puback', messageId })
    this.#listener.said(topic.slice(this.#prefix.length), JSON.parse(payload.toString()))
  }

  #closed(): void {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    this.#listener.closed({ wasOpen, refused: this.#refused, reason: this.#reason })
  }

  #nextPacketId(): number {
    this.#packetId = (this.#packetId % lastPacketId) + 1
    return this.#packetId
  }
}

function dial({ address, trustAnyCertificate }: Network, onread: OnReadOpts): Socket {
  const { host, port, tls } = address
  const to = { host, port, onread, noDelay: true }
  if (!tls) return connect(to)
  const servername = isIP(host) ? {} : { servername: host }
  return connectTls({ ...to, ...servername, rejectUnauthorized: !trustAnyCertificate })
}
