// Encodes and parses MQTT 3.1.1 with mqtt-packet. One parser serves all connections: it gets complete packets only, so
// it keeps no state between calls.

import { generate, type Packet, parser, writeToStream } from 'mqtt-packet'

const version = { protocolVersion: 4 }

// Its cache of all two-byte numbers takes several megabytes.
writeToStream.cacheNumbers = false

export function encodePacket(packet: Packet): Buffer {
  return generate(packet, version)
}

/** Where the last complete packet ends. */
export function completePacketsEnd(bytes: Buffer): number {
  let end = 0
  for (let at = 0; ; at = end) {
    let length = 0
    let offset = 1
    for (let byte = 0x80; byte >= 0x80; offset++) {
      if (at + offset >= bytes.length) return end
      byte = bytes[at + offset] as number
      length += (byte & 0x7f) * 128 ** (offset - 1)
    }
    if (at + offset + length > bytes.length) return end
    end = at + offset + length
  }
}

let parse = buildParse()

/** Payloads are views of the bytes. Throws for invalid MQTT. */
export function parsePackets(completePackets: Buffer): Packet[] {
  try {
    return parse(completePackets)
  } catch (error) {
    // After an error, the parser would keep its position for the next packet.
    parse = buildParse()
    throw error
  }
}

function buildParse(): (bytes: Buffer) => Packet[] {
  const parsing = parser(version)
  let packets: Packet[] = []
  let failure: unknown
  parsing.on('packet', (packet) => packets.push(packet))
  parsing.on('error', (error) => {
    failure = error
  })
  return (bytes) => {
    packets = []
    parsing.parse(bytes)
    if (failure !== undefined) throw failure
    return packets
  }
}
