import type { ProtocolVersion } from './reason.ts'

export type PublishPacket = {
  cmd: 'publish'
  topic: string
  payload: Buffer
  qos: 0 | 1 | 2
  /** With QoS 1. */
  messageId?: number
  /** After the fixed header. */
  length: number
}

const publishType = 0x3
const mostLengthBytes = 4

/**
 * Every report of every device is decoded here; mqtt-packet is eight times slower. Undefined: not a PUBLISH, or one with
 * properties, or malformed. Those are left to mqtt-packet.
 */
export function decodePublish(version: ProtocolVersion, frame: Buffer): PublishPacket | undefined {
  const firstByte = frame[0] as number
  const qos = (firstByte >> 1) & 3
  if (firstByte >> 4 !== publishType || qos > 1) return undefined
  let headerBytes = 2
  while ((frame[headerBytes - 1] as number) >= 0x80 && headerBytes <= mostLengthBytes) headerBytes++
  const topicStart = headerBytes + 2
  if (frame.length < topicStart) return undefined
  const topicEnd = topicStart + ((frame[headerBytes] as number) << 8) + (frame[headerBytes + 1] as number)
  const idEnd = topicEnd + 2 * qos
  const payloadStart = version === 5 ? idEnd + 1 : idEnd
  if (frame.length < payloadStart || (version === 5 && frame[idEnd] !== 0)) return undefined
  const packet: PublishPacket = {
    cmd: 'publish',
    topic: frame.toString('utf8', topicStart, topicEnd),
    payload: frame.subarray(payloadStart),
    qos: qos === 1 ? 1 : 0,
    length: frame.length - headerBytes,
  }
  if (qos === 1) packet.messageId = ((frame[topicEnd] as number) << 8) + (frame[topicEnd + 1] as number)
  return packet
}
