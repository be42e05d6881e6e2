// Counts the filters of a SUBSCRIBE or UNSUBSCRIBE before it is parsed: 26,000 fit into a packet, and parsing them takes longer
// than parsing a thousand ordinary packets.

import { ProtocolError, type ProtocolVersion } from './reason.ts'

/** Higher than the limit of subscriptions per device. */
const maxFiltersPerPacket = 256

const subscribe = 0x82
const unsubscribe = 0xa2

/** Throws ProtocolError. Malformed packets are left to the parser. */
export function refuseManyFilters(version: ProtocolVersion, frame: Buffer): void {
  if (frame[0] !== subscribe && frame[0] !== unsubscribe) return
  const optionBytes = frame[0] === subscribe ? 1 : 0
  let at = filtersStart(version, frame)
  for (let count = 0; at + 2 <= frame.length; count++) {
    if (count === maxFiltersPerPacket) throw new ProtocolError('too-many')
    at += 2 + frame.readUInt16BE(at) + optionBytes
  }
}

/** After the fixed header, the packet id and, in MQTT 5, the properties. */
function filtersStart(version: ProtocolVersion, frame: Buffer): number {
  const variableHeader = readVariableInteger(frame, 1).end
  const afterId = variableHeader + 2
  if (version === 4) return afterId
  const { value, end } = readVariableInteger(frame, afterId)
  return end + value
}

function readVariableInteger(frame: Buffer, start: number): { value: number; end: number } {
  let value = 0
  let at = start
  for (let shift = 0; at < frame.length && shift < 28; shift += 7) {
    const byte = frame[at++] as number
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  return { value, end: at }
}
