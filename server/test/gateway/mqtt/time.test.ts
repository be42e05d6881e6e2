// Who is too slow, too silent, or does not read, is sent away. The clock and the timer are the test's.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { IDisconnectPacket } from 'mqtt-packet'
import type { DeviceKey } from '../../../src/domain/store.ts'
import { type DoorUnderTest, deviceId, openDoor, prefix } from './door-under-test.ts'
import { openDevice, openRawDevice, type RawDevice } from './raw-device.ts'

async function openTimedDoor(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const door = await openDoor(t)
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      door.behind.clock += 1000
      t.mock.timers.tick(1000)
    }
  }
  return { ...door, pass }
}

/** What the device sent before has been read when the answer to this is here. */
async function ping(device: RawDevice) {
  device.send({ cmd: 'pingreq' })
  assert.equal((await device.next())?.cmd, 'pingresp')
}

const isOpen = ({ behind }: DoorUnderTest) =>
  !behind.events.some(({ kind }) => kind === 'device-disconnected' || kind === 'device-refused')

for (const [title, bytes] of Object.entries({ 'half a CONNECT': '100d00044d51', nothing: '' })) {
  test(`${title} for 5 s: closes`, async (t) => {
    const door = await openTimedDoor(t)
    const device = await openRawDevice(t, door)
    device.send(Buffer.from(bytes, 'hex'))
    // Whoever came later is in: so is the one before it.
    await openDevice(t, door)
    door.pass(5)
    assert.ok(isOpen(door))
    door.pass(1)
    assert.deepEqual(await device.packetsUntilClosed(), [])
    assert.equal((await door.behind.event('device-refused')).reason, 'too-slow')
  })
}

test('a sign-in that takes more than 5 s: says that it is unavailable', async (t) => {
  const door = await openTimedDoor(t)
  const asked = Promise.withResolvers<void>()
  const lookUp = Promise.withResolvers<DeviceKey>()
  door.behind.findDevice = () => {
    asked.resolve()
    return lookUp.promise
  }
  const device = await openRawDevice(t, door, 5)
  device.connect({ username: deviceId, password: Buffer.from(door.behind.token.text) })
  await asked.promise
  door.pass(6)
  assert.equal(((await device.next()) as { reasonCode?: number }).reasonCode, 0x88)
  await device.closed
  lookUp.resolve({ ownerNo: 1, deviceId })
  await door.door.stop()
  assert.deepEqual(door.behind.sessions.calls, [])
})

const silences: [string, 4 | 5, number, number][] = [
  ['one and a half times the keep-alive', 4, 10, 15],
  ['one and a half times the keep-alive', 5, 10, 15],
  ['half an hour without a keep-alive', 4, 0, 1800],
  ['half an hour without a keep-alive', 5, 0, 1800],
  ['half an hour with a keep-alive of 18 hours', 5, 65_535, 1800],
]
for (const [title, version, keepalive, seconds] of silences) {
  test(`MQTT ${version}: closes after ${title}`, async (t) => {
    const door = await openTimedDoor(t)
    const device = await openDevice(t, door, version, { keepalive })
    door.pass(seconds - 1)
    await ping(device)
    door.pass(seconds)
    assert.ok(isOpen(door))
    // A second more, because the time of the last packet is known to the second.
    door.pass(2)
    const codes = (await device.packetsUntilClosed()).map(
      (packet) => (packet as IDisconnectPacket).reasonCode,
    )
    assert.deepEqual(codes, version === 5 ? [0x8d] : [])
    assert.equal((await door.behind.event('device-disconnected')).reason, 'too-silent')
  })
}

test('bytes of a packet that never gets whole are silence', async (t) => {
  const door = await openTimedDoor(t)
  const device = await openDevice(t, door, 4, { keepalive: 4 })
  const sent = Array.from({ length: 8 }, (_, i) => (i === 0 ? 0x30 : 0x7f))
  for (const byte of sent) {
    device.send(Buffer.from([byte]))
    door.pass(1)
  }
  await device.closed
})

test('a device that waits for its answer is not silent', async (t) => {
  const door = await openTimedDoor(t)
  const commit = Promise.withResolvers<{ kind: 'nothing-pending' }>()
  const begun = Promise.withResolvers<void>()
  door.behind.recordReport = () => {
    begun.resolve()
    return commit.promise
  }
  const device = await openDevice(t, door, 4, { keepalive: 10 })
  device.publish(`${prefix}start-next`, {}, 3)
  await begun.promise
  door.pass(60)
  commit.resolve({ kind: 'nothing-pending' })
  assert.equal((await device.next())?.cmd, 'puback')
})

test('a process that did not run for a minute does not take that for silence', async (t) => {
  const door = await openTimedDoor(t)
  const device = await openDevice(t, door, 4, { keepalive: 10 })
  door.behind.clock += 60_000
  t.mock.timers.tick(1000)
  await ping(device)
  door.pass(10)
  await ping(device)
})

test('lastSeenAt is when a packet came, to the second', async (t) => {
  const door = await openTimedDoor(t)
  const device = await openDevice(t, door)
  door.pass(7)
  await ping(device)
  door.pass(20)
  assert.equal(door.behind.session.lastSeenAt, 1_700_000_007_000)
})
