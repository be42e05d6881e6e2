// A broker that ends the connection instead of acknowledging: because a message is too large, or without a reason.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { generate, type Packet, parser } from 'mqtt-packet'
import { BrokerLink, MessageTooLarge } from '../../../src/gateway/bridge/broker-link.ts'
import { bridgeTo } from './bridge-under-test.ts'
import { openLink } from './open-link.ts'

const maxBytes = 1000
const mqtt5 = { protocolVersion: 5 }
const tooLarge = 0x95

/** Speaks as much MQTT 5 as a bridge needs. */
async function openBroker(t: TestContext, losesFirst = false) {
  const taken: string[] = []
  const repeated: string[] = []
  let connections = 0
  const answer = (socket: Socket, packet: Packet) => {
    const send = (reply: Packet) => socket.write(generate(reply, mqtt5))
    if (packet.cmd === 'connect') {
      connections++
      send({ cmd: 'connack', reasonCode: 0, sessionPresent: true })
    }
    if (packet.cmd === 'subscribe')
      send({ cmd: 'suback', messageId: packet.messageId ?? 0, granted: packet.subscriptions.map(() => 1) })
    if (packet.cmd !== 'publish') return
    if (packet.payload.length > maxBytes) {
      send({ cmd: 'disconnect', reasonCode: tooLarge })
      socket.end()
    } else if (losesFirst && connections === 1) {
      if (packet.payload.toString() === 'last') socket.destroy()
    } else {
      taken.push(packet.payload.toString())
      if (packet.dup) repeated.push(packet.payload.toString())
      send({ cmd: 'puback', messageId: packet.messageId ?? 0, reasonCode: 0 })
    }
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const parsed = parser(mqtt5).on('packet', (packet) => answer(socket, packet))
    socket.on('data', (data: Buffer) => parsed.parse(data)).on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `mqtt://127.0.0.1:${port}`, taken, repeated, connections: () => connections }
}

test('a message for which the broker ends the connection is not sent again, and others are', async (t) => {
  const broker = await openBroker(t)
  const errors: string[] = []
  const link = new BrokerLink({
    settings: bridgeTo(broker.url),
    elapsed: () => performance.now(),
    receive: () => undefined,
    onUp: () => undefined,
    onLost: () => undefined,
    onError: (error) => errors.push(error),
    onRoom: () => undefined,
  })
  t.after(() => link.stop())
  link.start()
  await waitUntil('it is connected', () => link.isUp)
  const settled: unknown[] = []
  for (const payload of ['one', 'x'.repeat(maxBytes + 1), 'two'])
    link.outgoing.push({ topic: 'events', payload, onSettled: (error) => settled.push(error) })
  await waitUntil('all are settled', () => settled.length === 3)
  assert.equal(settled.filter((error) => error instanceof MessageTooLarge).length, 1)
  assert.deepEqual(new Set(broker.taken), new Set(['one', 'two']))
  assert.ok(errors.includes('the broker ended the connection (Packet too large)'), errors.join())
  assert.equal(broker.connections(), 2)
})

test('what was not acknowledged when the connection is lost is sent again, in order', async (t) => {
  const broker = await openBroker(t, true)
  const { link, errors } = openLink(t, bridgeTo(broker.url))
  await waitUntil('it is connected', () => link.isUp)
  const settled: unknown[] = []
  const push = (payload: string) =>
    link.outgoing.push({ topic: 'events', payload, onSettled: (error) => settled.push(error) })
  push('one')
  push('two')
  push('last')
  await waitUntil('it is lost', () => !link.isUp)
  push('later')
  await waitUntil('all are settled', () => settled.length === 4)
  assert.deepEqual(settled, [undefined, undefined, undefined, undefined])
  assert.deepEqual(broker.taken, ['one', 'two', 'last', 'later'])
  assert.deepEqual(broker.repeated, ['one', 'two', 'last'])
  assert.deepEqual(errors, ['the connection was lost'])
})
