// An orderly stop: requests in progress get their response, all devices are notified, and no resources are left.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { IDisconnectPacket } from 'mqtt-packet'
import type { DeviceKey } from '../../../src/domain/device/device-key.ts'
import type { ReportOutcome } from '../../../src/domain/execution/device-report.ts'
import { openMqttListener } from '../../../src/gateway/mqtt/open-mqtt-listener.ts'
import { Backend, deviceId, type ListenerUnderTest, openListener, prefix } from './listener-under-test.ts'
import { openDevice, openRawDevice } from './raw-device.ts'

/** As fast as the test's own clock goes. */
async function stopSoon(t: TestContext, listener: ListenerUnderTest): Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isStopped = false
  const stopped = listener.stop().then(() => {
    isStopped = true
  })
  while (!isStopped) {
    t.mock.timers.tick(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await stopped
}

const code = (packet: unknown) => (packet as IDisconnectPacket).reasonCode

test('sends devices with MQTT 5 the reason of a stop, and accepts no new connections', async (t) => {
  const listener = await openListener(t)
  const v5 = await openDevice(t, listener, 5)
  listener.backend.findDevice = async () => ({ ownerNo: 1, deviceId: 'd2' })
  const v4 = await openDevice(t, listener, 4, { username: 'd2' })
  const silent = await openRawDevice(t, listener)
  await Promise.all([listener.stop(), listener.stop()])
  assert.deepEqual((await v5.packetsUntilClosed()).map(code), [0x8b])
  assert.deepEqual(await v4.packetsUntilClosed(), [])
  assert.deepEqual(await silent.packetsUntilClosed(), [])
  const reasons = listener.backend.events.map((event) => 'reason' in event && event.reason)
  assert.deepEqual(reasons.filter(Boolean).toSorted(), ['stopping', 'stopping', 'unavailable'])
  assert.equal(listener.backend.sessions.current.size, 0)
  const late = connect(listener.port, '127.0.0.1')
  const [error] = await once(late, 'error')
  assert.equal(error.code, 'ECONNREFUSED')
})

test('a device gets the response in progress before the stop; later requests are not begun', async (t) => {
  const listener = await openListener(t)
  const commit = Promise.withResolvers<ReportOutcome>()
  const begun = Promise.withResolvers<void>()
  listener.backend.recordReport = () => {
    begun.resolve()
    return commit.promise
  }
  const device = await openDevice(t, listener, 5)
  await device.subscribe(`${prefix}#`)
  device.publish(`${prefix}start-next`, {}, 3)
  device.publish(`${prefix}start-next`, {}, 4)
  await begun.promise
  const stopped = listener.stop()
  commit.resolve({ kind: 'nothing-pending' })
  const packets = await device.packetsUntilClosed()
  assert.deepEqual(
    packets.map(({ cmd }) => cmd),
    ['puback', 'publish', 'disconnect'],
  )
  await stopped
  assert.equal(listener.backend.reports.length, 1)
})

test('a sign-in during the stop gets "server unavailable"', async (t) => {
  const listener = await openListener(t)
  const asked = Promise.withResolvers<void>()
  const lookUp = Promise.withResolvers<DeviceKey>()
  listener.backend.findDevice = () => {
    asked.resolve()
    return lookUp.promise
  }
  const device = await openRawDevice(t, listener, 5)
  device.connect({ username: deviceId, password: Buffer.from(listener.backend.token.text) })
  await asked.promise
  const stopped = listener.stop()
  lookUp.resolve({ ownerNo: 1, deviceId })
  await stopped
  assert.deepEqual((await device.packetsUntilClosed()).map(code), [0x88])
  assert.deepEqual(listener.backend.sessions.calls, [])
})

test('a device that does not disconnect is cut off', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener, 5)
  device.socket.pause()
  device.socket.allowHalfOpen = true
  await stopSoon(t, listener)
  assert.equal(listener.backend.sessions.current.size, 0)
})

test('a hanging request does not delay the stop forever', async (t) => {
  const listener = await openListener(t)
  const begun = Promise.withResolvers<void>()
  listener.backend.recordReport = () => {
    begun.resolve()
    return new Promise(() => undefined)
  }
  const device = await openDevice(t, listener)
  device.publish(`${prefix}start-next`)
  await begun.promise
  await stopSoon(t, listener)
  await device.closed
})

test('opening the listener on a port in use rejects and leaves nothing behind', async (t) => {
  const listener = await openListener(t)
  const http = createServer()
  const options = {
    host: '127.0.0.1',
    port: listener.port,
    tls: undefined,
    http,
    isTrustedProxy: undefined,
  }
  await assert.rejects(openMqttListener(new Backend().deps, options), { code: 'EADDRINUSE' })
  assert.equal(http.listenerCount('upgrade'), 0)
})

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
)

test('the address has brackets around IPv6', { skip: !hasIpv6 && 'there is no IPv6 here' }, async (t) => {
  const listener = await openListener(t, { host: '::1' })
  assert.match(listener.address, /^mqtt:\/\/\[::1\]:\d+$/)
})
