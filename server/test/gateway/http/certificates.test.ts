// Devices over HTTPS that sign in with a client certificate, and callers on the same listener that have none.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { newDevice } from '@jobcast/testkit/call-device'
import {
  certificates,
  certifiedDeviceId as deviceId,
  makeClientCertificate,
  makeRevocationList,
  renewServerCertificate,
} from '@jobcast/testkit/certificates'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from '../../http/assert-reply.ts'

const pem = (path: string) => readFileSync(path, 'utf8')
const pair = ({ cert, key }: { cert: string; key: string }) => ({ cert: pem(cert), key: pem(key) })
const ca = pem(certificates.ca)
// For `fetch`.
setDefaultCACertificates([ca])

const folder = newTemporaryFolder()
removeAfter({ after }, folder)
const [cert, key, deviceCrlFile] = ['cert.pem', 'key.pem', 'crl.pem'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
copyFileSync(certificates.serverCert, cert)
copyFileSync(certificates.serverKey, key)
async function replaceList(...revoked: Parameters<typeof makeRevocationList>): Promise<void> {
  writeFileSync(`${deviceCrlFile}.new`, await makeRevocationList(...revoked))
  renameSync(`${deviceCrlFile}.new`, deviceCrlFile)
}
await replaceList('serverCert')
const tls = { ...pair({ cert, key }), files: { cert, key } }
const api = await openSharedServer({ tls, deviceCa: ca, deviceCrlFile, ddiPollSeconds: 300 })
const device = await newDevice(api, deviceId)
const { token } = device
const other = await newDevice(api, 'other')
const { key: strangersKey, ownerId } = await api.newOwner('stranger')
const ofStranger = await newDevice(api, deviceId, strangersKey)

const own = pair({ cert: certificates.deviceCert, key: certificates.deviceKey })
const foreign = pair({ cert: certificates.strangerCert, key: certificates.strangerKey })
const made = async (...args: Parameters<typeof makeClientCertificate>) =>
  pair(await makeClientCertificate(...args))

type Answer = { status: number; text: string; headers: IncomingMessage['headers']; socket: TLSSocket }

/** A client with at most one connection. */
function client(options: AgentOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, ...options })
  after(() => agent.destroy())
  return async (path: string, headers = {}, method = 'GET'): Promise<Answer> => {
    const sent = request(api.http + path, { agent, headers, method }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const socket = response.socket as TLSSocket
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode ?? 0, text, headers: response.headers, socket }
  }
}

const jobs = (thing = deviceId) => `/things/${thing}/jobs`
const poll = (thing = deviceId, tenant = 'DEFAULT') => `/${tenant}/controller/v1/${thing}`
/** The statuses over HTTP and for hawkBit. */
async function statuses(options: AgentOptions, headers = {}, thing = deviceId) {
  const call = client(options)
  return [(await call(jobs(thing), headers)).status, (await call(poll(thing), headers)).status]
}

test('a device with a trusted certificate signs in, without O as a device of the first owner', async () => {
  await api.putJobAndDevices('update', [])
  const [{ jobExecutionId }] = (await api.trigger('update', [deviceId])).json
  const call = client(own)
  const { status, text } = await call(jobs())
  assert.equal(status, 200)
  assert.equal(JSON.parse(text).queuedJobs[0].jobId, String(jobExecutionId))
  const { execution } = JSON.parse((await call(`${jobs()}/$next`, {}, 'PUT')).text)
  assert.equal(execution.thingName, deviceId)
  assert.match((await call(poll())).text, new RegExp(`/deploymentBase/${jobExecutionId}`))
  assert.equal((await device.update(jobExecutionId, 'SUCCEEDED')).status, 200)
})

test('O is the owner, by name or id; for hawkBit it must be the tenant', async () => {
  await api.putJobAndDevices('theirs', [], strangersKey)
  const [{ jobExecutionId }] = (await api.trigger('theirs', [deviceId], { key: strangersKey })).json
  const calls = [
    client(await made(deviceId, { owner: 'stranger' })),
    client(await made(deviceId, { owner: ownerId })),
  ]
  for (const call of calls) assert.match((await call(jobs())).text, new RegExp(`"jobId":"${jobExecutionId}"`))
  for (const call of calls) {
    assert.equal((await call(poll(deviceId, 'stranger'))).status, 200)
    assert.equal((await call(poll())).status, 401)
  }
  assert.equal((await client(own)(poll(deviceId, 'stranger'))).status, 401)
  assert.deepEqual(await statuses(await made(deviceId, { owner: 'nobody' })), [401, 401])
})

test('the path of another device is 403, for hawkBit 401, whether or not there is such a device', async () => {
  assert.deepEqual(await statuses(own, {}, 'other'), [403, 401])
  assert.deepEqual(await statuses(own, {}, 'nobody'), [403, 401])
  assert.match((await client(own)(jobs('other'))).text, /The certificate belongs to another device/)
  assert.deepEqual(await statuses(await made('nobody'), {}, 'nobody'), [401, 401])
})

test('a certificate that is not trusted is like none', async () => {
  const comparable = async (options: AgentOptions, path: string) => {
    const { status, text, headers } = await client(options)(path)
    const { date, 'x-request-id': _id, 'x-amzn-requestid': _amzn, ...same } = headers
    return { status, text, same }
  }
  for (const path of [jobs(), poll()]) {
    const none = await comparable({}, path)
    assert.deepEqual([none.status, none.same.connection], [401, 'close'])
    assert.deepEqual(await comparable(foreign, path), none)
    assert.deepEqual(await comparable(await made(deviceId, { isExpired: true }), path), none)
  }
  for (const options of [{}, foreign]) {
    const authorization = { authorization: `Bearer ${token}` }
    assert.equal((await client(options)(jobs(), authorization)).status, 200)
  }
})

test('an Authorization header takes precedence over the certificate', async () => {
  const wrong = ['', 'Bearer', 'Bearer jd_x', 'TargetToken jd_x', 'GatewayToken je_x', 'Basic x']
  for (const authorization of wrong)
    assert.deepEqual(await statuses(own, { authorization }), [401, 401], authorization)
  const theirs = { authorization: `Bearer ${other.token}` }
  assert.equal((await client(own)(jobs('other'), theirs)).status, 200)
  assert.equal((await client(own)(jobs(), theirs)).status, 403)
  const target = { authorization: `TargetToken ${ofStranger.token}` }
  assert.equal((await client(own)(poll(deviceId, 'stranger'), target)).status, 200)
})

test('a page of another site cannot use the certificate of a browser', async () => {
  assert.deepEqual(await statuses(own, { origin: 'https://other.example' }), [401, 401])
  // Images and links: a poll would reject pending executions without files.
  assert.deepEqual(await statuses(own, { 'sec-fetch-site': 'cross-site' }), [401, 401])
})

test('callers need no certificate, and a certificate is not a credential of the API', async () => {
  for (const options of [{}, own, foreign]) {
    const call = client(options)
    assert.equal((await call('/livez')).status, 200)
    assert.equal((await call('/job/api/devices', { 'x-api-key': api.adminKey })).status, 200)
    assertRefused(await call('/job/api/devices'), 'J-802')
  }
})

test('after the certificate of the service was renewed, devices are still trusted and revoked', async () => {
  const renewed = await renewServerCertificate()
  copyFileSync(renewed.cert, cert)
  copyFileSync(renewed.key, key)
  const { fingerprint256 } = (await client({})('/livez')).socket.getPeerCertificate()
  await api.server.reloadCertificate?.()
  assert.notEqual((await client({})('/livez')).socket.getPeerCertificate().fingerprint256, fingerprint256)
  assert.deepEqual(await statuses(own), [200, 200])
  assert.deepEqual(await statuses(foreign), [401, 401])
  const revoked = pair({ cert: certificates.serverCert, key: certificates.serverKey })
  assert.deepEqual(await statuses(revoked, {}, 'localhost'), [401, 401])
})

test('a device whose credential is revoked is refused on its open connection', async () => {
  const call = client(await made('other'))
  const { status, socket } = await call(jobs('other'))
  assert.equal(status, 200)
  const waiting = client(await made('other'))(`${jobs('other')}?wait=60`)
  await call(jobs('other'))
  await api.call('DELETE', '/job/api/devices/other/credential')
  const refused = await call(jobs('other'))
  assert.deepEqual([refused.status, refused.socket], [401, socket])
  assert.equal((await waiting).status, 401)
  assert.equal((await call(poll('other'))).status, 401)
})

test('a certificate is revoked by a list: open connections, long polls and resumed sessions end', {
  timeout: 50_000,
}, async () => {
  const [call, ddi] = [client(own), client(own)]
  const first = await call(jobs())
  const session = first.socket.getSession()
  assert.equal((await ddi(poll())).status, 200)
  const resume = () => client({ ...own, session } as AgentOptions)(jobs())
  const resumed = await resume()
  assert.deepEqual([resumed.status, resumed.socket.isSessionReused()], [200, true])
  const beforeTheList = await made(deviceId)
  const stays = client(beforeTheList)
  const { socket: stayed } = await stays(jobs())
  const waiting = client(own)(`${jobs()}?wait=60`)
  await call(jobs())
  await replaceList('deviceCert')
  assert.equal((await waiting).status, 401)
  const refused = await call(jobs())
  assert.deepEqual(
    [refused.status, refused.socket === first.socket, refused.headers.connection],
    [401, true, 'close'],
  )
  assert.equal((await ddi(poll())).status, 401)
  const again = await resume()
  assert.deepEqual([again.status, again.socket.isSessionReused()], [401, false])
  assert.deepEqual(await statuses(own), [401, 401])
  // Others stay connected, and the device can use its token.
  const kept = await stays(jobs())
  assert.deepEqual([kept.status, kept.socket === stayed], [200, true])
  assert.equal((await client(own)(jobs(), { authorization: `Bearer ${token}` })).status, 200)
  await replaceList()
  await waitUntil('the certificate is accepted', async () => (await client(own)(jobs())).status === 200)
})

test('a handshake that began before the certificate was revoked does not sign in', {
  timeout: 50_000,
}, async (t) => {
  const call = client(own)
  assert.equal((await call(jobs())).status, 200)
  const held: Buffer[] = []
  let release = (): void => undefined
  // Forwards the first message of the client; the second has the certificate.
  const forwarder = createServer((socket) => {
    const upstream = connectTcp(Number(new URL(api.http).port), '127.0.0.1')
    t.after(() => upstream.destroy())
    upstream.pipe(socket)
    socket.once('data', (hello) => {
      upstream.write(hello)
      socket.on('data', (chunk: Buffer) => held.push(chunk))
    })
    release = () => {
      socket.removeAllListeners('data').pipe(upstream)
      for (const chunk of held) upstream.write(chunk)
    }
  }).listen(0, '127.0.0.1')
  t.after(() => forwarder.close())
  await once(forwarder, 'listening')
  const { port } = forwarder.address() as AddressInfo
  const slow = connect({ port, host: '127.0.0.1', ca, ...own })
  t.after(() => slow.destroy())
  slow.write(`GET ${jobs()} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  await waitUntil('the certificate is held back', () => held.length > 0)
  await replaceList('deviceCert')
  await waitUntil('the list is read', async () => (await call(jobs())).status === 401)
  release()
  assert.match(String((await once(slow, 'data'))[0]), /^HTTP\/1.1 401 /)
  await replaceList()
  await waitUntil('the certificate is accepted', async () => (await client(own)(jobs())).status === 200)
})
