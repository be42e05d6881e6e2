// The limit of the bridge: a client of the broker that stores nothing and answers each report at once.

import { connect } from 'node:net'
import {
  connectPacket,
  packetIdOf,
  packetTypes,
  pubackPacket,
  publishPacket,
  readPackets,
  subscribePacket,
} from '../devices/mqtt-bytes.ts'
import { tellParent } from '../server-process.ts'

const filter = '$aws/things/+/jobs/+/update'
const answer = JSON.stringify({ timestamp: Math.floor(Date.now() / 1000) })
const lastPacketId = 0xffff

const brokerPort = Number(process.argv[2])
const socket = connect({ host: '127.0.0.1', port: brokerPort, noDelay: true })
let rest: Buffer = Buffer.alloc(0)
let packetId = 0

socket.write(connectPacket('echo', '', 0))
socket.on('data', (chunk: Buffer) => {
  const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
  socket.cork()
  const end = readPackets(bytes, bytes.length, take)
  process.nextTick(() => socket.uncork())
  rest = bytes.subarray(end)
})
socket.on('close', () => process.exit(1))

function take(firstByte: number, bytes: Buffer, start: number): void {
  switch (firstByte >> 4) {
    case packetTypes.connack:
      socket.write(subscribePacket(1, [filter], 1))
      return
    case packetTypes.suback:
      tellParent(brokerPort)
      return
    case packetTypes.publish: {
      const topic = bytes.toString('latin1', start + 2, start + 2 + bytes.readUInt16BE(start))
      packetId = (packetId % lastPacketId) + 1
      socket.write(publishPacket(`${topic}/accepted`, answer, packetId))
      socket.write(pubackPacket(packetIdOf(firstByte, bytes, start)))
    }
  }
}
