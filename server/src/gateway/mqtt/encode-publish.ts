import type { ProtocolVersion } from './reason.ts'

const publish = 0x30
const longestTopic = 0xffff
/** Between topic and payload: the packet id with QoS 1; then in MQTT 5 the properties, a zero for none. */
const gaps = ['', '\0\0']
/** The user property `traceparent` of MQTT 5, up to its value, which has 55 characters. */
const traceProperty = '\x47\x26\0\x0btraceparent\0\x37'

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
  traceParent?: string,
): Buffer | undefined {
  const properties = version !== 5 ? '' : traceParent === undefined ? '\0' : traceProperty + traceParent
  const text = topic + gaps[qos] + properties + payload
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
