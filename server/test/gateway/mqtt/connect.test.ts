// CONNECT: accepted and refused connections, and negotiated properties.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IConnectPacket } from 'mqtt-packet'
import { newSecretText } from '../../../src/domain/access/secret-text.ts'
import { StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import type { DeviceKey } from '../../../src/domain/device/device-key.ts'
import { deviceId, openListener } from './listener-under-test.ts'
import { openDevice, openRawDevice, type Version } from './raw-device.ts'

const versions: Version[] = [4, 5]

/** What the same refusal is in either version. */
const notAuthorized = { 4: 5, 5: 0x87 }
const unavailable = { 4: 3, 5: 0x88 }

const codeOf = (packet: unknown) => {
  const { returnCode, reasonCode } = packet as { returnCode?: number; reasonCode?: number }
  return returnCode ?? reasonCode
}

for (const version of versions) {
  test(`MQTT ${version}: lets a device in by its token, with and without what SDKs append to its name`, async (t) => {
    const listener = await openListener(t)
    for (const username of [deviceId, `${deviceId}?SDK=IoTDeviceSDK/JS&Version=1`]) {
      const { connack } = await openDevice(t, listener, version, { username })
      assert.equal(codeOf(connack), 0)
      assert.equal(connack.sessionPresent, false)
    }
    await listener.backend.event('device-disconnected', ({ reason }) => reason === 'taken-over')
    assert.equal(listener.backend.sessions.current.size, 1)
  })

  const refused: Record<string, Partial<IConnectPacket>> = {
    'a wrong token': { password: Buffer.from(newSecretText('jd').text) },
    'a token that is none': { password: Buffer.from('secret') },
    'the name of another device': { username: 'd2' },
    'no name': { username: '' },
    'no password': { password: Buffer.alloc(0) },
  }
  for (const [title, options] of Object.entries(refused)) {
    test(`MQTT ${version}: answers ${title} with not authorized`, async (t) => {
      const listener = await openListener(t)
      const device = await openDevice(t, listener, version, options)
      assert.equal(codeOf(device.connack), notAuthorized[version])
      assert.deepEqual(await device.packetsUntilClosed(), [])
      assert.equal((await listener.backend.event('device-refused')).reason, 'not-authorized')
      assert.deepEqual(listener.backend.sessions.calls, [])
    })
  }

  test(`MQTT ${version}: answers no credentials at all, and a revoked device, with not authorized`, async (t) => {
    const listener = await openListener(t)
    const nobody = await openRawDevice(t, listener, version)
    nobody.connect()
    assert.equal(codeOf(await nobody.next()), notAuthorized[version])
    listener.backend.findDevice = async () => undefined
    const revoked = await openDevice(t, listener, version)
    assert.equal(codeOf(revoked.connack), notAuthorized[version])
  })

  test(`MQTT ${version}: says that it is unavailable while the store is`, async (t) => {
    const listener = await openListener(t)
    listener.backend.findDevice = () => Promise.reject(new StorageUnavailable('disk'))
    const device = await openDevice(t, listener, version)
    assert.equal(codeOf(device.connack), unavailable[version])
    await device.closed
    listener.backend.findDevice = () => Promise.reject(new Error('a bug'))
    assert.equal(codeOf((await openDevice(t, listener, version)).connack), unavailable[version])
    await listener.backend.event('device-sign-in-failed')
  })

  test(`MQTT ${version}: packets after CONNECT wait for the sign-in`, async (t) => {
    const listener = await openListener(t)
    const lookUp = Promise.withResolvers<DeviceKey>()
    listener.backend.findDevice = () => lookUp.promise
    const device = await openRawDevice(t, listener, version)
    device.connect({ username: deviceId, password: Buffer.from(listener.backend.token.text) })
    device.send({ cmd: 'pingreq' })
    lookUp.resolve({ ownerNo: 1, deviceId })
    assert.equal((await device.next())?.cmd, 'connack')
    assert.equal((await device.next())?.cmd, 'pingresp')
  })

  test(`MQTT ${version}: a device that disconnects during the sign-in is not registered`, async (t) => {
    const listener = await openListener(t)
    const lookUp = Promise.withResolvers<DeviceKey>()
    const asked = Promise.withResolvers<void>()
    listener.backend.findDevice = () => {
      asked.resolve()
      return lookUp.promise
    }
    const device = await openRawDevice(t, listener, version)
    device.connect({ username: deviceId, password: Buffer.from(listener.backend.token.text) })
    await asked.promise
    device.socket.destroy()
    const stopped = listener.stop()
    lookUp.resolve({ ownerNo: 1, deviceId })
    await stopped
    assert.deepEqual(listener.backend.sessions.calls, [])
  })
}

test('MQTT 5: CONNACK lists unsupported features', async (t) => {
  const listener = await openListener(t)
  const { connack } = await openDevice(t, listener, 5)
  assert.deepEqual(
    { ...connack.properties },
    {
      sessionExpiryInterval: 0,
      receiveMaximum: 50,
      maximumQoS: 1,
      retainAvailable: false,
      maximumPacketSize: 131_072,
      topicAliasMaximum: 0,
      wildcardSubscriptionAvailable: true,
      subscriptionIdentifiersAvailable: false,
      sharedSubscriptionAvailable: false,
    },
  )
})

test('MQTT 5: names the client that has no name, and the keep-alive that is too long', async (t) => {
  const listener = await openListener(t)
  const { connack } = await openDevice(t, listener, 5, { clientId: '', keepalive: 0 })
  assert.match(connack.properties?.assignedClientIdentifier ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(connack.properties?.serverKeepAlive, 1200)
})

test('MQTT 3.1.1: refuses a client without a client id that requests a persistent session', async (t) => {
  const listener = await openListener(t)
  const device = await openRawDevice(t, listener)
  // mqtt-packet would not make it: no clean session, keep-alive 60, no client id.
  device.send(Buffer.from('100c00044d515454040000' + '3c0000', 'hex'))
  assert.equal(codeOf(await device.next()), 2)
  assert.deepEqual(await device.packetsUntilClosed(), [])
})

test('MQTT 3.1: is accepted', async (t) => {
  const listener = await openListener(t)
  const { connack } = await openDevice(t, listener, 4, { protocolVersion: 3, protocolId: 'MQIsdp' })
  assert.equal(codeOf(connack), 0)
})

for (const [title, level] of Object.entries({ 'MQTT 2': 2, 'MQTT 6': 6, 'a bridge': 0x84 })) {
  test(`answers ${title} with unacceptable version`, async (t) => {
    const listener = await openListener(t)
    const device = await openRawDevice(t, listener)
    device.send(Buffer.from([0x10, 12, 0, 4, ...Buffer.from('MQTT'), level, 2, 0, 60, 0, 0]))
    assert.equal(codeOf(await device.next()), 1)
    assert.deepEqual(await device.packetsUntilClosed(), [])
  })
}

const v5Refusals: [string, Partial<IConnectPacket>, number][] = [
  ['a will with QoS 2', { will: { topic: 'a', payload: 'b', qos: 2 } }, 0x9b],
  ['a will to be retained', { will: { topic: 'a', payload: 'b', retain: true } }, 0x9a],
  ['an authentication method', { properties: { authenticationMethod: 'x' } }, 0x8c],
  ['a receive maximum of 0', { properties: { receiveMaximum: 0 } }, 0x82],
  ['a maximum packet size of 0', { properties: { maximumPacketSize: 0 } }, 0x82],
]
for (const [title, options, code] of v5Refusals) {
  test(`MQTT 5: answers ${title} with 0x${code.toString(16)}`, async (t) => {
    const listener = await openListener(t)
    const device = await openDevice(t, listener, 5, options)
    assert.equal(codeOf(device.connack), code)
    assert.deepEqual(await device.packetsUntilClosed(), [])
  })
}

test('the newest connection of a device replaces the previous one, which gets a reason', async (t) => {
  const listener = await openListener(t)
  const first = await openDevice(t, listener, 5)
  const second = await openDevice(t, listener, 5)
  assert.deepEqual(
    (await first.packetsUntilClosed()).map(({ cmd, ...packet }) => [cmd, codeOf(packet)]),
    [['disconnect', 0x8e]],
  )
  second.send({ cmd: 'pingreq' })
  assert.equal((await second.next())?.cmd, 'pingresp')
  await listener.backend.event('device-disconnected')
  assert.deepEqual(listener.backend.sessions.calls, ['open', 'open', 'leave'])
})

test('a void credential ends the connection with not authorized', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener, 5)
  listener.backend.session.close('credential-void')
  assert.deepEqual((await device.packetsUntilClosed()).map(codeOf), [0x87])
})

test('no event contains a token, not even one that was entered as the name', async (t) => {
  const listener = await openListener(t)
  const { text } = listener.backend.token
  await openDevice(t, listener, 4, { username: text })
  await openDevice(t, listener, 4, { username: 'd2' })
  const named = await listener.backend.event('device-refused', ({ deviceId }) => deviceId === 'd2')
  assert.equal(named.reason, 'not-authorized')
  assert.ok(!JSON.stringify(listener.backend.events).includes(text))
})
