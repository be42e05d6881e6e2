import type { ProtocolVersion } from './reason.ts'

const publish = 0x30
const longestTopic = 0xffff
/** Between topic and payload: the packet id with QoS 1; in MQTT 5 a zero for no properties. */
const gaps = ['', '\0', '\0\0', '\0\0\0']

/**
 * Every notice to every device is encoded here; mqtt-packet is six times slower (3 µs instead of 0.5): one text, written
 * at once, with the packet id filled in afterwards.
 * Undefined if the topic is too long. `packetId` is used with QoS 1.
 */
export function encodePublish(
  version: ProtocolVersion,
  topic: string,
  payload: string,
  qos: 0 | 1,
  packetId: number,
): Buffer | undefined {
  const text = topic + gaps[2 * qos + (version === 5 ? 1 : 0)] + payload
  const size = Buffer.byteLength(text)
  const topicLength = size === text.length ? topic.length : Buffer.byteLength(topic)
  if (topicLength > longestTopic) return undefined
  const length = 2 + size
  const lengthBytes = length < 2 ** 7 ? 1 : length < 2 ** 14 ? 2 : length < 2 ** 21 ? 3 : 4
  const packet = Buffer.allocUnsafe(1 + lengthBytes + length)
  packet[0] = publish | (qos << 1)
  for (let i = 1, rest = length; i <= lengthBytes; i++, rest >>= 7) {
    packet[i] = i < lengthBytes ? (rest & 0x7f) | 0x80 : rest
  }
  const textAt = packet.writeUInt16BE(topicLength, 1 + lengthBytes)
  packet.write(text, textAt)
  if (qos === 1) packet.writeUInt16BE(packetId, textAt + topicLength)
  return packet
}
