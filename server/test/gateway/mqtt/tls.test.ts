// MQTT with TLS: by token, or by a certificate that the settings trust.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { certificates, makeRevocationList } from '@jobcast/testkit/certificates'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { IConnackPacket, IConnectPacket } from 'mqtt-packet'
import {
  normalizeSerial,
  revokedSerials,
  splitRevocationLists,
} from '../../../src/gateway/certificates/revoked-serials.ts'
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

test('accepts a device by its certificate: CN is the device, and without O the owner is the first', async (t) => {
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

test('accepts a device by its token, with or without a certificate', async (t) => {
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

test('requests no certificate if the settings trust no CA', async (t) => {
  const listener = await openListener(t, { tls: { ...tls, deviceCa: undefined } })
  assert.equal(await connectTls(t, listener, ofDevice, {}), 5)
})

test('bytes that are not TLS are reported and the connection is closed', async (t) => {
  const listener = await openListener(t, { tls })
  const socket = connectTcp(listener.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('\x10\x0c not TLS at all')
  await once(socket, 'close')
  await listener.backend.event('tls-handshake-failed')
})

test('an unfinished handshake does not delay the stop', async (t) => {
  const listener = await openListener(t, { tls })
  const socket = connectTcp(listener.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  await listener.stop()
  await once(socket, 'close')
})

test('a certificate in the revocation list is refused; the list is read again when it changes', async (t) => {
  const folder = temporaryFolder(t)
  const deviceCrlFile = join(folder, 'crl.pem')
  const replace = async (...revoked: Parameters<typeof makeRevocationList>) => {
    writeFileSync(`${deviceCrlFile}.new`, await makeRevocationList(...revoked))
    renameSync(`${deviceCrlFile}.new`, deviceCrlFile)
  }
  await replace('serverCert')
  const listener = await openListener(t, { tls: { ...tls, deviceCrlFile } })
  const { backend, port } = listener
  const expect = (id: string) => {
    backend.findDevice = async () => ({ ownerNo: 1, deviceId: id })
  }
  expect('tls-device')
  assert.equal(await connectTls(t, listener, ofDevice, {}), 0)

  // Of two that are connected the one whose certificate is revoked is closed.
  const password = Buffer.from(backend.token.text)
  const open = async (certificate: ConnectionOptions, options: Partial<IConnectPacket>) => {
    const socket = connect({ port, host: '127.0.0.1', ca: pem('ca'), ...certificate })
    t.after(() => socket.destroy())
    // A session of TLS that could be resumed.
    const session = once(socket, 'session').then(([given]) => given as Buffer)
    await once(socket, 'secureConnect')
    const device = new RawDevice(socket, 4)
    device.connect(options)
    assert.equal(((await device.next()) as IConnackPacket).returnCode, 0)
    return { socket, session: await session, closed: once(socket, 'close') }
  }
  const revoked = await open(ofDevice, {})
  expect(deviceId)
  const other = await open({}, { username: deviceId, password })
  expect('tls-device')
  await replace('deviceCert')
  await backend.event('device-crl-read')
  await revoked.closed
  assert.equal(other.socket.destroyed, false)
  assert.equal(await connectTls(t, listener, ofDevice, {}), 5)
  assert.equal(await connectTls(t, listener, { ...ofDevice, session: revoked.session }, {}), 5)
  // Its token is its own matter.
  expect(deviceId)
  assert.equal(await connectTls(t, listener, ofDevice, { username: deviceId, password }), 0)

  expect('tls-device')
  // A broken file changes nothing.
  writeFileSync(deviceCrlFile, 'not a list')
  await backend.event('device-crl-failed')
  assert.equal(await connectTls(t, listener, ofDevice, {}), 5)
  await replace()
  await waitUntil(
    'the certificate is accepted',
    async () => (await connectTls(t, listener, ofDevice, {})) === 0,
  )
})

test('the serial numbers of revocation lists are found, also of several in a file', async () => {
  const { serialNumber } = new X509Certificate(ofDevice.cert)
  const lists = [await makeRevocationList(), await makeRevocationList('deviceCert', 'serverCert')]
  assert.deepEqual(
    splitRevocationLists(`a comment\n${lists.join('\n')}`).map((list) => list.trim()),
    lists.map((list) => list.trim()),
  )
  const serials = revokedSerials(lists)
  assert.equal(serials.size, 2)
  assert.ok(serials.has(normalizeSerial(serialNumber)))
  assert.equal(revokedSerials(lists.slice(0, 1)).size, 0)
  const der = Buffer.from((lists[1] ?? '').split('-----')[2] ?? '', 'base64')
  for (let length = 1; length < der.length; length++) {
    const cut = der.subarray(0, length).toString('base64')
    assert.throws(() => revokedSerials([`-----BEGIN X509 CRL-----\n${cut}\n-----END X509 CRL-----`]))
  }
})
