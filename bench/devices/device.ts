// One device of a fleet: a socket and its incoming packets. The fleet decides how to react.

import { connect, type Socket } from 'node:net'
import type { Credential } from './fleet-orders.ts'
import {
  connectPacket,
  type OnPacket,
  packetIdOf,
  packetTypes,
  pubackPacket,
  publishPacket,
  readPackets,
  subscribePacket,
} from './mqtt-bytes.ts'

/** The current listeners of a fleet. */
export type Ears = {
  onMessage?: (device: Device, bytes: Buffer, start: number, end: number) => void
  onPuback?: (device: Device) => void
  onSuback?: (device: Device, wasGranted: boolean) => void
  onPingresp?: (device: Device) => void
}

type Network = {
  port: number
  localAddress: string
  speaksMqtt: boolean
  keepAliveSeconds: number
  ears: Ears
  onLost: (reason: string) => void
}

// Each read is processed completely before the next one, so all devices can share the buffer.
const readBuffer = Buffer.allocUnsafe(256 * 1024)
const jobIdStart = Buffer.from('"jobId":"')
const quote = '"'.charCodeAt(0)
const lastPacketId = 0xffff

/** Pending acknowledgements of all devices. On its own machine, a device would not wait until others have sent theirs. */
let acknowledgements: { socket: Socket; packetId: number }[] = []

function acknowledge(socket: Socket, packetId: number): void {
  if (acknowledgements.push({ socket, packetId }) > 1) return
  // Sent after everything that has arrived for other devices has been read.
  setImmediate(() => {
    const due = acknowledgements
    acknowledgements = []
    for (const each of due) each.socket.write(pubackPacket(each.packetId))
  })
}

export class Device {
  readonly deviceId: string
  readonly prefix: string
  /** The execution of the last notification. */
  jobId = '1'
  /** When the report in flight was due or sent; 0 if none is. */
  reportedAt = 0
  readonly #network: Network
  readonly #token: string
  #socket: Socket | undefined
  #rest: Buffer | undefined
  #packetId = 0
  #onConnack: ((returnCode: number) => void) | undefined

  constructor({ deviceId, token }: Credential, network: Network) {
    this.deviceId = deviceId
    this.prefix = `$aws/things/${deviceId}/jobs/`
    this.#token = token
    this.#network = network
  }

  async open(): Promise<void> {
    const { port, localAddress, speaksMqtt, keepAliveSeconds, onLost } = this.#network
    const onread = { buffer: readBuffer, callback: (size: number) => this.#take(size) }
    const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true, onread })
    this.#socket = socket
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.once('connect', resolve)
    })
    socket.on('error', (error) => onLost(error.message))
    socket.on('close', () => onLost('the server closed the connection'))
    if (!speaksMqtt) return
    const returnCode = await new Promise<number>((resolve) => {
      this.#onConnack = resolve
      socket.write(connectPacket(this.deviceId, this.#token, keepAliveSeconds))
    })
    if (returnCode !== 0) throw new Error(`${this.deviceId} was refused: ${returnCode}`)
  }

  send(bytes: Buffer): void {
    this.#socket?.write(bytes)
  }

  subscribe(topics: string[], qos: 0 | 1): void {
    const filters = topics.map((topic) => this.prefix + topic)
    this.send(subscribePacket(this.#nextPacketId(), filters, qos))
  }

  /** Sends a report with QoS 1. */
  report(status: string, step: number): void {
    const payload = `{"status":"${status}","statusDetails":{"step":"${step}"}}`
    this.send(publishPacket(`${this.prefix}${this.jobId}/update`, payload, this.#nextPacketId()))
  }

  /** Returns false if the message names no execution. */
  learnJobId(bytes: Buffer, start: number, end: number): boolean {
    const found = bytes.indexOf(jobIdStart, start)
    if (found < 0 || found >= end) return false
    const idStart = found + jobIdStart.length
    this.jobId = bytes.toString('latin1', idStart, bytes.indexOf(quote, idStart))
    return true
  }

  #take(size: number): boolean {
    const seen = readBuffer.subarray(0, size)
    const bytes = this.#rest === undefined ? seen : Buffer.concat([this.#rest, seen])
    const end = readPackets(bytes, bytes.length, this.#onPacket)
    this.#rest = end === bytes.length ? undefined : Buffer.from(bytes.subarray(end))
    return true
  }

  readonly #onPacket: OnPacket = (firstByte, bytes, start, end) => {
    const { ears, speaksMqtt } = this.#network
    switch (firstByte >> 4) {
      case packetTypes.publish: {
        const packetId = packetIdOf(firstByte, bytes, start)
        if (packetId > 0 && speaksMqtt && this.#socket) acknowledge(this.#socket, packetId)
        ears.onMessage?.(this, bytes, start, end)
        return
      }
      case packetTypes.puback:
        ears.onPuback?.(this)
        return
      case packetTypes.suback:
        ears.onSuback?.(this, (bytes[end - 1] as number) < 0x80)
        return
      case packetTypes.pingresp:
        ears.onPingresp?.(this)
        return
      case packetTypes.connack:
        this.#onConnack?.(bytes[start + 1] as number)
    }
  }

  #nextPacketId(): number {
    this.#packetId = (this.#packetId % lastPacketId) + 1
    return this.#packetId
  }
}
