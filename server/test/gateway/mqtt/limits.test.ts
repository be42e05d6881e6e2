// What one connection may send: per turn of the event loop, per packet, and per second.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { IDisconnectPacket } from 'mqtt-packet'
import { WebSocket } from 'ws'
import { RateLimits, unlimited } from '../../../src/limits/rate-limits.ts'
import { openListener, prefix } from './listener-under-test.ts'
import { openDevice, type RawDevice } from './raw-device.ts'
import { openConnection } from './stream-under-test.ts'

const pingreq = Buffer.from([0xc0, 0])

async function lastPacket(device: RawDevice): Promise<unknown[]> {
  const packet = (await device.next()) as IDisconnectPacket | undefined
  return [packet?.cmd, packet?.reasonCode]
}

test('a connection that sends a thousand pings gets a few answers per turn, and all in the end', async () => {
  const { connection, stream } = await openConnection()
  const pongs = () => stream.commands.filter((cmd) => cmd === 'pingresp').length
  connection.receive(Buffer.concat(Array.from({ length: 1000 }, () => pingreq)))
  const first = pongs()
  assert.ok(first > 0 && first <= 64, `${first} at once`)
  assert.equal(stream.isPaused, true)
  await turn()
  assert.ok(pongs() <= 2 * first)
  while (pongs() < 1000) await turn()
  assert.equal(stream.isPaused, false)
})

for (const [cmd, code] of [
  ['subscribe', 0x97],
  ['unsubscribe', 0x97],
] as const) {
  test(`${cmd.toUpperCase()} with 257 filters is refused with ${code}`, async (t) => {
    const device = await openDevice(t, await openListener(t), 5)
    const filters = Array.from({ length: 257 }, (_, i) => `${prefix}${i}/#`)
    if (cmd === 'unsubscribe') device.send({ cmd, messageId: 1, unsubscriptions: filters })
    else device.send({ cmd, messageId: 1, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) })
    assert.deepEqual(await lastPacket(device), ['disconnect', code])
  })
}

test('a device that sends too much is disconnected with "message rate too high", and on its return as well', async (t) => {
  const listener = await openListener(t)
  listener.backend.deps.limits = new RateLimits({ ...unlimited, device: 1 }, () => 0)
  for (const pings of [10, 0]) {
    const device = await openDevice(t, listener, 5)
    for (let i = 0; i < pings; i++) {
      device.send({ cmd: 'pingreq' })
      assert.equal((await device.next())?.cmd, 'pingresp')
    }
    device.send({ cmd: 'pingreq' })
    assert.deepEqual(await lastPacket(device), ['disconnect', 0x96])
  }
  assert.equal((await listener.backend.event('device-disconnected')).reason, 'rate-too-high')
})

test('failed sign-ins of an address are refused with "quota exceeded" when there are too many', async (t) => {
  const listener = await openListener(t)
  listener.backend.deps.limits = new RateLimits({ ...unlimited, 'sign-in': 1 }, () => 0)
  const codeOf = async (version: 4 | 5, password: string) => {
    const { connack } = await openDevice(t, listener, version, { password: Buffer.from(password) })
    return connack.reasonCode ?? connack.returnCode
  }
  for (let i = 0; i < 10; i++) assert.equal(await codeOf(5, 'bad'), 0x87)
  assert.equal(await codeOf(5, 'bad'), 0x97)
  assert.equal(await codeOf(4, 'bad'), 3)
  assert.equal(await codeOf(5, listener.backend.token.text), 0)
})

test('a WebSocket may ping a little before CONNECT, and is closed when it does nothing else', async (t) => {
  const listener = await openListener(t)
  const socket = new WebSocket(`ws://127.0.0.1:${listener.httpPort}/mqtt`, 'mqtt')
  t.after(() => socket.terminate())
  await once(socket, 'open')
  let pongs = 0
  socket.on('pong', () => pongs++)
  const closed = once(socket, 'close')
  for (let i = 0; i < 100; i++) socket.ping()
  await closed
  assert.equal(pongs, 10)
  assert.equal((await listener.backend.event('device-refused')).reason, 'rate-too-high')
})
