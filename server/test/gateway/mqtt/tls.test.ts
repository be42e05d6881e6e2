// MQTT with TLS: by token, or by a certificate that the settings trust.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { certificates } from '@jobcast/testkit/certificates'
import type { IConnackPacket, IConnectPacket } from 'mqtt-packet'
import { deviceId, type ListenerUnderTest, openListener } from './listener-under-test.ts'
import { RawDevice } from './raw-device.ts'

const pem = (name: keyof typeof certificates) => readFileSync(certificates[name], 'utf8')
const tls = { cert: pem('serverCert'), key: pem('serverKey'), deviceCa: pem('ca') }
const ofDevice = { cert: pem('deviceCert'), key: pem('deviceKey') }
const ofStranger = { cert: pem('strangerCert'), key: pem('strangerKey') }

async function connectTls(
  t: TestContext,
  { port }: ListenerUnderTest,
  certificate: ConnectionOptions,
  options: Partial<IConnectPacket>,
) {
  const socket = connect({ port, host: '127.0.0.1', ca: pem('ca'), ...certificate })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  const device = new RawDevice(socket, 4)
  device.connect(options)
  return ((await device.next()) as IConnackPacket).returnCode
}

test('lets a device in by its certificate: CN is the device, and without O the owner is the first', async (t) => {
  const listener = await openListener(t, { tls })
  assert.match(listener.address, /^mqtts:\/\/127\.0\.0\.1:\d+$/)
  listener.backend.findDevice = async () => ({ ownerNo: 1, deviceId: 'tls-device' })
  const names = [undefined, '', '?SDK=x', 'tls-device', 'tls-device?SDK=x']
  for (const username of names) {
    const code = await connectTls(t, listener, ofDevice, username === undefined ? {} : { username })
    assert.equal(code, 0, `user name ${username}`)
  }
  assert.deepEqual(
    listener.backend.certificates,
    names.map(() => ['default', 'tls-device']),
  )
})

test('lets a device in by its token, with or without a certificate', async (t) => {
  const listener = await openListener(t, { tls })
  const password = Buffer.from(listener.backend.token.text)
  assert.equal(await connectTls(t, listener, {}, { username: deviceId, password }), 0)
  assert.equal(await connectTls(t, listener, ofDevice, { username: deviceId, password }), 0)
  assert.deepEqual(listener.backend.certificates, [])
})

const refused: [string, ConnectionOptions, Partial<IConnectPacket>][] = [
  ['a certificate by a stranger', ofStranger, {}],
  ['no certificate', {}, {}],
  ['a certificate with the name of another device', ofDevice, { username: 'd2' }],
  ['a certificate with a wrong token', ofDevice, { username: 'tls-device', password: Buffer.from('x') }],
]
for (const [title, certificate, options] of refused) {
  test(`refuses ${title}`, async (t) => {
    const listener = await openListener(t, { tls })
    assert.equal(await connectTls(t, listener, certificate, options), 5)
    assert.deepEqual(listener.backend.certificates, [])
  })
}

test('refuses a device whose certificate is good but which is unknown or revoked', async (t) => {
  const listener = await openListener(t, { tls })
  listener.backend.findDevice = async () => undefined
  assert.equal(await connectTls(t, listener, ofDevice, {}), 5)
})

test('asks for no certificate where the settings trust none', async (t) => {
  const listener = await openListener(t, { tls: { ...tls, deviceCa: undefined } })
  assert.equal(await connectTls(t, listener, ofDevice, {}), 5)
})

test('bytes that are not TLS are told and closed', async (t) => {
  const listener = await openListener(t, { tls })
  const socket = connectTcp(listener.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('\x10\x0c not TLS at all')
  await once(socket, 'close')
  await listener.backend.event('tls-handshake-failed')
})

test('who never finishes the handshake does not hold up the stop', async (t) => {
  const listener = await openListener(t, { tls })
  const socket = connectTcp(listener.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  await listener.stop()
  await once(socket, 'close')
})
