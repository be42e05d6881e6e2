// Packets to objects and back by mqtt-packet, plus the checks it lacks.

import {
  generate,
  type IConnectPacket,
  type IDisconnectPacket,
  type IPingreqPacket,
  type IPubackPacket,
  type ISubscribePacket,
  type IUnsubscribePacket,
  type Packet,
  parser,
  writeToStream,
} from 'mqtt-packet'
import { decodePublish, type PublishPacket } from './decode-publish.ts'
import { refuseManyFilters } from './filter-count.ts'
import { ProtocolError, type ProtocolVersion } from './reason.ts'

export type ConnectPacket = IConnectPacket & { version: ProtocolVersion }
export type DevicePacket =
  | PublishPacket
  | IPubackPacket
  | ISubscribePacket
  | IUnsubscribePacket
  | IPingreqPacket
  | IDisconnectPacket

// Its cache of two-byte numbers takes several megabytes.
writeToStream.cacheNumbers = false

/** The same in all versions; one character per byte. */
export const pingresp = '\xd0\0'

/** Success is encoded the same way in all versions; one character per byte. */
export function encodePuback(messageId: number): string {
  return String.fromCharCode(0x40, 2, messageId >> 8, messageId & 0xff)
}

export function encodePacket(version: ProtocolVersion, packet: Packet): Buffer {
  return generate(packet, { protocolVersion: version })
}

type Parse = (frame: Buffer) => Packet | undefined

// A frame is a complete packet, so a parser keeps no state between frames and all connections can share it.
const parsers = new Map<ProtocolVersion, Parse>()

/** Throws ProtocolError. */
export function parsePacket(version: ProtocolVersion, frame: Buffer): DevicePacket {
  // A fan-out with QoS 1 causes thousands of these; mqtt-packet is ten times slower.
  if (isShortPuback(frame)) return checked({ cmd: 'puback', messageId: frame.readUInt16BE(2) })
  const publish = decodePublish(version, frame)
  if (publish) return checkPublish(publish)
  refuseManyFilters(version, frame)
  const parse = parsers.get(version) ?? buildParser(version)
  // Removed until it has succeeded: after an error a parser carries its position into the next packet.
  parsers.delete(version)
  const packet = parse(frame)
  if (packet === undefined) throw new ProtocolError('malformed')
  parsers.set(version, parse)
  return checked(packet)
}

/** Without a reason code, which means success. */
function isShortPuback(frame: Buffer): boolean {
  return frame.length === 4 && frame[0] === 0x40 && frame[1] === 2
}

const supportedProtocols = new Set(['MQIsdp 3', 'MQTT 4', 'MQTT 5'])

/** Throws ProtocolError. */
export function parseConnect(frame: Buffer): ConnectPacket {
  const protocol = protocolOf(frame)
  const isMqtt = protocol.startsWith('MQTT ') || protocol.startsWith('MQIsdp ')
  if (!isMqtt) throw new ProtocolError('malformed')
  if (!supportedProtocols.has(protocol)) throw new ProtocolError('unsupported-version')
  // A new parser, because it keeps a reference to this packet and its password.
  const packet = buildParser(4)(frame)
  if (packet?.cmd !== 'connect') throw new ProtocolError('malformed')
  const { clientId, username = '', will } = packet
  if (isBadText(clientId) || isBadText(username)) throw new ProtocolError('malformed')
  if (will?.qos !== undefined && will.qos > 2) throw new ProtocolError('malformed')
  return { ...packet, version: protocol === 'MQTT 5' ? 5 : 4 }
}

/** Name and level; mqtt-packet does not report unknown ones. */
function protocolOf(frame: Buffer): string {
  const body = frame.subarray(frame.findIndex((byte, i) => i > 0 && byte < 0x80) + 1)
  const nameEnd = body.length < 2 ? 0 : 2 + body.readUInt16BE(0)
  return `${body.toString('latin1', 2, nameEnd)} ${body[nameEnd]}`
}

function buildParser(version: ProtocolVersion): Parse {
  const parsing = parser({ protocolVersion: version })
  let parsed: Packet | undefined
  parsing.on('packet', (packet) => {
    parsed = packet
  })
  parsing.on('error', () => undefined)
  return (frame) => {
    parsed = undefined
    try {
      return parsing.parse(frame) === 0 ? parsed : undefined
    } catch {
      // mqtt-packet reads past the end of some malformed packets.
      return undefined
    }
  }
}

function checked(packet: Packet): DevicePacket {
  switch (packet.cmd) {
    case 'publish': {
      if (packet.qos > 0) checkId(packet)
      if (packet.properties?.topicAlias !== undefined) throw new ProtocolError('topic-alias')
      const { cmd, topic, qos, messageId = 0, length = 0 } = packet
      return checkPublish({ cmd, topic, payload: asBuffer(packet.payload), qos, messageId, length })
    }
    case 'subscribe':
      checkId(packet)
      checkFilters(packet.subscriptions.map(({ topic }) => topic))
      if (packet.properties?.subscriptionIdentifier !== undefined) {
        throw new ProtocolError('subscription-identifier')
      }
      return packet
    case 'unsubscribe':
      checkId(packet)
      checkFilters(packet.unsubscriptions)
      return packet
    case 'puback':
      checkId(packet)
      return packet
    case 'pingreq':
    case 'disconnect':
      return packet
    default:
      throw new ProtocolError('protocol-error')
  }
}

function checkId({ messageId }: { messageId?: number | undefined }): void {
  if (messageId === undefined || messageId < 1) throw new ProtocolError('malformed')
}

function checkPublish(publish: PublishPacket): PublishPacket {
  const { topic, qos } = publish
  if (qos > 0) checkId(publish)
  if (isBadText(topic)) throw new ProtocolError('malformed')
  if (topic === '' || topic.includes('+') || topic.includes('#')) throw new ProtocolError('bad-topic')
  return publish
}

function checkFilters(filters: string[]): void {
  if (filters.length === 0) throw new ProtocolError('protocol-error')
  if (filters.some(isBadText)) throw new ProtocolError('malformed')
}

/** Invalid UTF-8 was decoded to U+FFFD, which no well-behaved device sends. */
function isBadText(text: string): boolean {
  return text.includes('\0') || text.includes('\ufffd')
}

function asBuffer(payload: string | Buffer): Buffer {
  return typeof payload === 'string' ? Buffer.from(payload) : payload
}
