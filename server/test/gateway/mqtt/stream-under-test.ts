// A connection with a simulated network: a test decides how much it accepts, and when.

import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet'
import type { ByteStream } from '../../../src/gateway/mqtt/byte-stream.ts'
import { Connections } from '../../../src/gateway/mqtt/connections.ts'
import { Backend, deviceId } from './listener-under-test.ts'
import { connectPacket, type Version } from './raw-device.ts'

class StreamUnderTest implements ByteStream {
  writable = true
  writableLength = 0
  isPaused = false
  isDestroyed = false
  readonly written: Packet[] = []
  /** The network takes nothing. */
  isStuck = false
  readonly #parser

  constructor(version: Version) {
    this.#parser = parser({ protocolVersion: version })
    this.#parser.on('packet', (packet) => this.written.push(packet))
  }

  get commands(): string[] {
    return this.written.map(({ cmd }) => cmd)
  }

  get topics(): string[] {
    return this.written.filter((packet) => packet.cmd === 'publish').map(({ topic }) => topic)
  }

  get publishes(): IPublishPacket[] {
    return this.written.filter((packet) => packet.cmd === 'publish')
  }

  write(bytes: Uint8Array | string, encoding?: 'latin1'): void {
    this.#parser.parse(typeof bytes === 'string' ? Buffer.from(bytes, encoding) : Buffer.from(bytes))
    if (this.isStuck) this.writableLength += bytes.length
  }

  cork(): void {}

  uncork(): void {}

  end(): void {
    this.writable = false
  }

  destroy(): void {
    this.isDestroyed = true
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }
}

/** Signed in as d1. */
export async function openConnection(version: Version = 4, properties?: { receiveMaximum: number }) {
  const backend = new Backend()
  const stream = new StreamUnderTest(version)
  const connections = new Connections(backend.deps)
  const connection = connections.add({ stream, transport: 'mqtt', address: '127.0.0.1' })
  const send = (...packets: Packet[]) => {
    for (const packet of packets) connection.receive(generate(packet, { protocolVersion: version }))
  }
  const password = Buffer.from(backend.token.text)
  send(connectPacket(version, { username: deviceId, password, ...(properties && { properties }) }))
  await backend.event('device-connected')
  return { backend, stream, connection, connections, send }
}
