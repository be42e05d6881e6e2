// Limits of packets from a server over MQTT: an agent buffers no more of a packet than its limit, whatever its header announces.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { within } from '@jobcast/testkit/within'
import mqttPacket from 'mqtt-packet'
import { startAgent } from '../src/agent.ts'
import { PacketLimit } from '../src/transport/packet-limit.ts'
import { EventLog } from './support/event-log.ts'

const packet = (payloadBytes: number) =>
  mqttPacket.generate(
    {
      ...{ cmd: 'publish', qos: 0, dup: false, retain: false },
      topic: 't',
      payload: Buffer.alloc(payloadBytes),
    },
    { protocolVersion: 5 },
  )

test(`packets up to the limit pass, however they are split (seed ${testSeed})`, () => {
  const random = seededRandom(testSeed)
  const sizes = [0, 1, 100, 127, 128, 16_383, 16_384, 20_000]
  const sent = Buffer.concat([...sizes, ...sizes].map(packet))
  const longest = packet(20_000).length
  for (let round = 0; round < 20; round++) {
    const [exact, shorter] = [new PacketLimit(longest), new PacketLimit(longest - 1)]
    let passed = true
    for (let at = 0; at < sent.length; ) {
      const chunk = sent.subarray(at, at + 1 + random.below(round % 2 ? 5 : 30_000))
      at += chunk.length
      assert.ok(exact.accepts(chunk))
      passed &&= shorter.accepts(chunk)
    }
    assert.ok(!passed)
  }
})

test('a packet above the limit and an endless length are detected in the header', () => {
  const limit = () => new PacketLimit(1000)
  assert.ok(!limit().accepts(packet(1000).subarray(0, 3)))
  assert.ok(limit().accepts(packet(900).subarray(0, 3)))
  assert.ok(limit().accepts(Buffer.from([0x30, 0x80, 0x80, 0x80])))
  assert.ok(!limit().accepts(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80])))
})

test('an agent closes the connection when the server sends a packet of 200 MB', {
  timeout: 120_000,
}, async (t) => {
  const sentBytes: number[] = []
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const serve = (socket: Socket) => {
    const connection = sentBytes.push(0) - 1
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) sentBytes[connection] = socket.bytesWritten
      if (!socket.destroyed) socket.once('drain', more)
    }
    const parser = mqttPacket.parser({ protocolVersion: 5 })
    parser.on('packet', ({ cmd }) => {
      if (cmd !== 'connect') return
      const accepted = { cmd: 'connack', reasonCode: 0, sessionPresent: false } as const
      socket.write(mqttPacket.generate(accepted, { protocolVersion: 5 }))
      // PUBLISH with a remaining length of 200 MB.
      socket.write(Buffer.from([0x30, 0x80, 0x84, 0xaf, 0x5f]))
      more()
    })
    socket.on('data', (bytes: Buffer) => parser.parse(bytes))
    socket.on('error', () => undefined)
  }
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const log = new EventLog()
  const agent = await startAgent({
    deviceId: 'd',
    readToken: () => `jd_${'0'.repeat(48)}`,
    allowCommands: false,
    tell: log.tell,
    backoff: { baseMs: 1, capMs: 1 },
    server: { by: 'mqtt', url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}` },
    stateFolder: temporaryFolder(t),
    handlersFolder: temporaryFolder(t),
  })
  t.after(() => agent.stop())
  const { reason } = await within(60_000, () => JSON.stringify(log.events), log.until('no-connection', 3))
  assert.equal(reason, 'the server sent a packet of more than 1048576 bytes')
  for (const bytes of sentBytes.slice(0, 3)) assert.ok(bytes < 50_000_000, `it took ${bytes} bytes`)
})
