// Encodes the few MQTT 3.1.1 packets that a fleet sends, and splits those it receives. Written by hand: ten thousand devices
// in one process must cost less than the server that they measure.

export const packetTypes = { connack: 2, publish: 3, puback: 4, suback: 9, pingresp: 13 } as const

export const pingreq = Buffer.from([0xc0, 0])

export function connectPacket(deviceId: string, token: string, keepAliveSeconds: number): Buffer {
  const userNameAndPassword = 0xc2 // and a clean session
  const head = Buffer.from([0, 4, ...Buffer.from('MQTT'), 4, userNameAndPassword, 0, 0])
  head.writeUInt16BE(keepAliveSeconds, 8)
  return packet(0x10, [head, text(deviceId), text(deviceId), text(token)])
}

export function subscribePacket(packetId: number, topics: string[], qos: number): Buffer {
  return packet(0x82, [number(packetId), ...topics.flatMap((topic) => [text(topic), Buffer.from([qos])])])
}

/** With a packet id, the QoS is 1. */
export function publishPacket(topic: string, payload: string, packetId?: number): Buffer {
  const id = packetId === undefined ? [] : [number(packetId)]
  return packet(packetId === undefined ? 0x30 : 0x32, [text(topic), ...id, Buffer.from(payload)])
}

export function pubackPacket(packetId: number): Buffer {
  return Buffer.from([0x40, 2, packetId >> 8, packetId & 0xff])
}

function packet(firstByte: number, parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header = [firstByte]
  let rest = length
  do {
    header.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    rest >>= 7
  } while (rest > 0)
  return Buffer.concat([Buffer.from(header), ...parts])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([number(bytes.length), bytes])
}

function number(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

/** Called for each complete packet; `start` and `end` delimit the bytes after its fixed header. */
export type OnPacket = (firstByte: number, bytes: Buffer, start: number, end: number) => void

/** Returns where the first incomplete packet begins. */
export function readPackets(bytes: Buffer, end: number, onPacket: OnPacket): number {
  let at = 0
  while (at + 2 <= end) {
    let length = 0
    let lengthBytes = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at + 1 + lengthBytes]
      if (byte === undefined || at + 1 + lengthBytes >= end) return at
      lengthBytes++
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    const start = at + 1 + lengthBytes
    if (start + length > end) return at
    onPacket(bytes[at] as number, bytes, start, start + length)
    at = start + length
  }
  return at
}

/** The packet id of a publish; 0 with QoS 0. */
export function packetIdOf(firstByte: number, bytes: Buffer, start: number): number {
  return firstByte & 0x06 ? bytes.readUInt16BE(start + 2 + bytes.readUInt16BE(start)) : 0
}
