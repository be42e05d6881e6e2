// The listener survives any input, and serves the next device normally.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { testSize } from '@jobcast/testkit/test-size'
import { generate, type Packet } from 'mqtt-packet'
import { deviceId, type ListenerUnderTest, openListener, prefix } from './listener-under-test.ts'
import { connectPacket, openDevice, type Version } from './raw-device.ts'

const rounds = testSize('connections', { test: 300, chaos: 10_000 })
const atOnce = 20

function packetsOf(random: Random): Packet[] {
  const messageId = random.below(4)
  const suffix = random.pick(['get', 'start-next', '12/update', '$next/get', '12/output', 'notify', '+', '#'])
  const payload = random.pick(['{}', '', '{', '{"status":"FAILED"}', '{"offset":0,"data":"a"}', '[[[['])
  const topic = random.pick([prefix, prefix, prefix, '$aws/things/d2/jobs/', '']) + suffix
  const qos = random.pick([0, 1, 1, 2] as const)
  return random.some<Packet>(
    [
      { cmd: 'publish', topic, payload, qos, messageId, dup: false, retain: false },
      { cmd: 'subscribe', messageId, subscriptions: [{ topic: topic || 'a', qos }] },
      { cmd: 'unsubscribe', messageId, unsubscriptions: [topic] },
      { cmd: 'puback', messageId, reasonCode: 0 },
      { cmd: 'pingreq' },
      { cmd: 'pubrel', messageId, reasonCode: 0 },
    ],
    1 + random.below(6),
  )
}

function mutated(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  for (let changes = random.below(4); changes > 0; changes--)
    copy[random.below(copy.length)] = random.below(256)
  return random.chance(0.2) ? copy.subarray(0, random.below(copy.length)) : copy
}

function nonsense(random: Random, token: string): Buffer {
  const version = random.pick<Version>([4, 5])
  const opts = { protocolVersion: version }
  const opening = generate(connectPacket(version, { username: deviceId, password: Buffer.from(token) }), opts)
  const random64 = () => Buffer.from(Array.from({ length: random.below(64) }, () => random.below(256)))
  const packets = packetsOf(random).map((packet) => generate(packet, opts))
  switch (random.below(4)) {
    case 0:
      return random64()
    case 1:
      return Buffer.concat([opening, random64()])
    case 2:
      return mutated(random, opening)
    default:
      return Buffer.concat([opening, ...packets.map((packet) => mutated(random, packet))])
  }
}

async function say(t: TestContext, listener: ListenerUnderTest, bytes: Buffer): Promise<void> {
  const socket = connect(listener.port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.resume()
  const closed = once(socket, 'close')
  socket.end(bytes)
  await closed
}

test(`${rounds} connections of nonsense do no harm (seed ${testSeed})`, async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
  t.after(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtExceptionMonitor', note)
  })
  const listener = await openListener(t)
  const random = seededRandom(testSeed)
  for (let round = 0; round < rounds; round += atOnce) {
    const all = Array.from({ length: atOnce }, () => nonsense(random, listener.backend.token.text))
    await Promise.all(all.map((bytes) => say(t, listener, bytes)))
  }

  const cameIn = listener.backend.sessions.calls.filter((call) => call === 'open')
  assert.ok(cameIn.length > rounds / 3)
  for (const version of [4, 5] as const) {
    const device = await openDevice(t, listener, version)
    assert.equal((await device.subscribe(`${prefix}#`))?.cmd, 'suback')
    device.publish(`${prefix}get`, { clientToken: 'still here' })
    assert.equal((await device.nextPublish()).json.clientToken, 'still here')
  }
  await listener.stop()
  assert.deepEqual(unhandled, [])
  const ourFaults = listener.backend.events.filter(({ kind }) => kind.endsWith('-failed'))
  assert.deepEqual(ourFaults, [])
})
