// Which packets are accepted, by their first byte: type in the upper half, flags in the lower.

import type { FrameRules } from './frames.ts'
import type { Reason } from './reason.ts'

const connect = 0x10
const publishType = 0x3
const accepted = new Set([
  0x40, // PUBACK
  0x82, // SUBSCRIBE
  0xa2, // UNSUBSCRIBE
  0xc0, // PINGREQ
  0xe0, // DISCONNECT
])
/** A second CONNECT, AUTH without a method, packets only a server sends, the packets of QoS 2. */
const notExpected = new Set([connect, 0x20, 0x50, 0x62, 0x70, 0x90, 0xb0, 0xd0, 0xf0])

/** Enough for any CONNECT, and little memory for unauthenticated connections. */
export const beforeConnect: FrameRules = {
  maxLength: 4 * 1024,
  refusalOf: (firstByte) => (firstByte === connect ? undefined : 'protocol-error'),
}

export const maxPacketSize = 128 * 1024

export const afterConnect: FrameRules = { maxLength: maxPacketSize, refusalOf: refusalAfterConnect }

function refusalAfterConnect(firstByte: number): Reason | undefined {
  if (firstByte >> 4 === publishType) return refusalOfQos((firstByte >> 1) & 3)
  if (accepted.has(firstByte)) return undefined
  return notExpected.has(firstByte) ? 'protocol-error' : 'malformed'
}

function refusalOfQos(qos: number): Reason | undefined {
  if (qos === 3) return 'malformed'
  return qos === 2 ? 'qos-not-supported' : undefined
}
