// MQTT 3.1.1 as bytes and as packets, by mqtt-packet. One parser serves all connections: it is given whole packets
// only, so it keeps nothing between two calls.

import { generate, type Packet, parser, writeToStream } from 'mqtt-packet'

const version = { protocolVersion: 4 }

// Its cache of all two-byte numbers takes several megabytes.
writeToStream.cacheNumbers = false

export function encodePacket(packet: Packet): Buffer {
  return generate(packet, version)
}

/** Where the last whole packet ends. */
export function wholePacketsEnd(bytes: Buffer): number {
  let end = 0
  for (let at = 0; ; at = end) {
    let length = 0
    let place = 1
    for (let byte = 0x80; byte >= 0x80; place++) {
      if (at + place >= bytes.length) return end
      byte = bytes[at + place] as number
      length += (byte & 0x7f) * 128 ** (place - 1)
    }
    if (at + place + length > bytes.length) return end
    end = at + place + length
  }
}

let parse = buildParse()

/** Payloads are views of the bytes. Throws for what is not MQTT. */
export function parsePackets(wholePackets: Buffer): Packet[] {
  try {
    return parse(wholePackets)
  } catch (error) {
    // After an error a parser carries its position into the next packet.
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
