// Devices that are too slow, too silent, or do not read are disconnected. The test controls the clock and the timer.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { IDisconnectPacket } from 'mqtt-packet'
import type { DeviceKey } from '../../../src/domain/device/device-key.ts'
import { deviceId, type ListenerUnderTest, openListener, prefix } from './listener-under-test.ts'
import { openDevice, openRawDevice, type RawDevice } from './raw-device.ts'

async function openTimedDoor(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const listener = await openListener(t)
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      listener.backend.clock += 1000
      t.mock.timers.tick(1000)
    }
  }
  return { ...listener, pass }
}

/** What the device sent before has been read when the answer to this is here. */
async function ping(device: RawDevice) {
  device.send({ cmd: 'pingreq' })
  assert.equal((await device.next())?.cmd, 'pingresp')
}

const isOpen = ({ backend }: ListenerUnderTest) =>
  !backend.events.some(({ kind }) => kind === 'device-disconnected' || kind === 'device-refused')

for (const [title, bytes] of Object.entries({ 'half a CONNECT': '100d00044d51', nothing: '' })) {
  test(`${title} for 5 s: closes`, async (t) => {
    const listener = await openTimedDoor(t)
    const device = await openRawDevice(t, listener)
    device.send(Buffer.from(bytes, 'hex'))
    // Whoever came later is in: so is the one before it.
    await openDevice(t, listener)
    listener.pass(5)
    assert.ok(isOpen(listener))
    listener.pass(1)
    assert.deepEqual(await device.packetsUntilClosed(), [])
    assert.equal((await listener.backend.event('device-refused')).reason, 'too-slow')
  })
}

test('a sign-in that takes more than 5 s: says that it is unavailable', async (t) => {
  const listener = await openTimedDoor(t)
  const asked = Promise.withResolvers<void>()
  const lookUp = Promise.withResolvers<DeviceKey>()
  listener.backend.findDevice = () => {
    asked.resolve()
    return lookUp.promise
  }
  const device = await openRawDevice(t, listener, 5)
  device.connect({ username: deviceId, password: Buffer.from(listener.backend.token.text) })
  await asked.promise
  listener.pass(6)
  assert.equal(((await device.next()) as { reasonCode?: number }).reasonCode, 0x88)
  await device.closed
  lookUp.resolve({ ownerNo: 1, deviceId })
  await listener.stop()
  assert.deepEqual(listener.backend.sessions.calls, [])
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
    const listener = await openTimedDoor(t)
    const device = await openDevice(t, listener, version, { keepalive })
    listener.pass(seconds - 1)
    await ping(device)
    listener.pass(seconds)
    assert.ok(isOpen(listener))
    // A second more, because the time of the last packet is known to the second.
    listener.pass(2)
    const codes = (await device.packetsUntilClosed()).map(
      (packet) => (packet as IDisconnectPacket).reasonCode,
    )
    assert.deepEqual(codes, version === 5 ? [0x8d] : [])
    assert.equal((await listener.backend.event('device-disconnected')).reason, 'too-silent')
  })
}

test('bytes of an incomplete packet count as silence', async (t) => {
  const listener = await openTimedDoor(t)
  const device = await openDevice(t, listener, 4, { keepalive: 4 })
  const sent = Array.from({ length: 8 }, (_, i) => (i === 0 ? 0x30 : 0x7f))
  for (const byte of sent) {
    device.send(Buffer.from([byte]))
    listener.pass(1)
  }
  await device.closed
})

test('a device that waits for its answer is not silent', async (t) => {
  const listener = await openTimedDoor(t)
  const commit = Promise.withResolvers<{ kind: 'nothing-pending' }>()
  const begun = Promise.withResolvers<void>()
  listener.backend.recordReport = () => {
    begun.resolve()
    return commit.promise
  }
  const device = await openDevice(t, listener, 4, { keepalive: 10 })
  device.publish(`${prefix}start-next`, {}, 3)
  await begun.promise
  listener.pass(60)
  commit.resolve({ kind: 'nothing-pending' })
  assert.equal((await device.next())?.cmd, 'puback')
})

test('a process that was suspended for a minute does not treat that as silence', async (t) => {
  const listener = await openTimedDoor(t)
  const device = await openDevice(t, listener, 4, { keepalive: 10 })
  listener.backend.clock += 60_000
  t.mock.timers.tick(1000)
  await ping(device)
  listener.pass(10)
  await ping(device)
})

test('lastSeenAt is when a packet came, to the second', async (t) => {
  const listener = await openTimedDoor(t)
  const device = await openDevice(t, listener)
  listener.pass(7)
  await ping(device)
  listener.pass(20)
  assert.equal(listener.backend.session.lastSeenAt, 1_700_000_007_000)
})
