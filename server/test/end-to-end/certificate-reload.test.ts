// A renewed certificate is used when its files have changed, at once after SIGHUP, without affecting open connections.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { certificates, renewServerCertificate } from '@jobcast/testkit/certificates'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'

const ca = readFileSync(certificates.ca, 'utf8')
// For `fetch`.
setDefaultCACertificates([ca])

async function open(address: string): Promise<TLSSocket> {
  const { port } = new URL(address)
  const socket = connect({ host: '127.0.0.1', port: Number(port), ca, servername: 'localhost' })
  await once(socket, 'secureConnect')
  return socket
}

async function seenAt(address: string): Promise<string> {
  const socket = await open(address)
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

const fingerprintOf = (file: string) => new X509Certificate(readFileSync(file)).fingerprint256

test('SIGHUP reads certificate and key again without dropping a connection', async (t) => {
  const folder = temporaryFolder(t)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  copyFileSync(certificates.serverCert, cert)
  copyFileSync(certificates.serverKey, key)
  const flags = ['--tls-cert', cert, '--tls-key', key]
  const started = startProgram(join(folder, 'data'), { flags })
  t.after(() => started.end('SIGKILL'))
  const server = await started.ready
  const addresses = [server.http, server.mqtt]
  const first = fingerprintOf(cert)
  const { port: mqttPort } = new URL(server.mqtt)
  await server.call('PUT', '/job/api/devices/kiosk-1', { body: {} })
  const { deviceToken } = (await server.call('POST', '/job/api/devices/kiosk-1/credential')).json
  const device = await connectAsync(`mqtts://127.0.0.1:${mqttPort}`, {
    username: 'kiosk-1',
    password: deviceToken,
    ca,
    reconnectPeriod: 0,
  })
  const http = await open(server.http)
  let closed = 0
  const countClosed = () => {
    closed++
  }
  device.on('close', countClosed)
  http.on('close', countClosed)

  // Half of a renewal: what does not fit together is not used.
  const renewed = await renewServerCertificate()
  const logged = (text: string) => server.output.lines.some((line) => line.includes(text))
  copyFileSync(renewed.key, key)
  server.process.kill('SIGHUP')
  await waitUntil('refused', () => logged('cannot be used'))
  for (const address of addresses) assert.equal(await seenAt(address), first)

  copyFileSync(renewed.cert, cert)
  server.process.kill('SIGHUP')
  await waitUntil('read', () => logged('were read again'))
  for (const address of addresses) assert.equal(await seenAt(address), fingerprintOf(renewed.cert))

  // Without a signal, by a link that is replaced, as Kubernetes does with mounted secrets.
  const again = await renewServerCertificate()
  symlinkSync(again.cert, `${cert}.new`)
  symlinkSync(again.key, `${key}.new`)
  renameSync(`${cert}.new`, cert)
  renameSync(`${key}.new`, key)
  const isNew = async (address: string) => (await seenAt(address)) === fingerprintOf(again.cert)
  for (const address of addresses) await waitUntil('noticed', () => isNew(address))

  http.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.match(String((await once(http, 'data'))[0]), /^HTTP\/1.1 200 /)
  await device.subscribeAsync('$aws/things/kiosk-1/jobs/notify')
  assert.equal(closed, 0)
  http.destroy()
  await device.endAsync()
  renameSync(cert, `${cert}.old`)
  writeFileSync(cert, '')
  const ended = await server.end('SIGTERM')
  assert.equal(ended.code, 0)
})
