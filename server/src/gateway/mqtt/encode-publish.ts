import type { ProtocolVersion } from './reason.ts'

const publish = 0x30
const duplicate = 0x08
const longestTopic = 0xffff
/** The user property `traceparent` of MQTT 5, up to its value, which has 55 characters. */
const traceProperty = '\x47\x26\0\x0btraceparent\0\x37'

/**
 * Every notice to every device is encoded here; mqtt-packet is six times slower. The result has one character per byte
 * (latin1): a socket writes it without a copy, and allocating a buffer per notice would cost more than everything else.
 * Undefined if the topic is too long. `packetId` is used with QoS 1.
 */
export function encodePublish(
  version: ProtocolVersion,
  topic: string,
  payload: string,
  qos: 0 | 1,
  packetId: number,
  traceParent?: string,
): string | undefined {
  const name = asBytes(topic)
  if (name.length > longestTopic) return undefined
  const id = qos === 1 ? twoBytes(packetId) : ''
  const properties = version !== 5 ? '' : traceParent === undefined ? '\0' : traceProperty + traceParent
  const content = asBytes(payload)
  const length = 2 + name.length + id.length + properties.length + content.length
  const head = String.fromCharCode(publish | (qos << 1)) + lengthBytes(length) + twoBytes(name.length)
  return head + name + id + properties + content
}

/** The same packet with the flag DUP: it may have arrived before. */
export function asRepeated(packet: string): string {
  return String.fromCharCode(packet.charCodeAt(0) | duplicate) + packet.slice(1)
}

/** The text in UTF-8, one character per byte. */
function asBytes(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}

function twoBytes(value: number): string {
  return String.fromCharCode(value >> 8, value & 0xff)
}

/** Variable byte integer: seven bits per byte; the eighth is set if more follow. */
function lengthBytes(length: number): string {
  return length < 0x80
    ? String.fromCharCode(length)
    : String.fromCharCode((length & 0x7f) | 0x80) + lengthBytes(length >> 7)
}
