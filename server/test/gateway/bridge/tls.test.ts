// A broker with TLS: a private CA, certificates of the service and of a device, and what is said when one of them is wrong.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startAgent } from '@jobcast/agent'
import {
  certificates,
  makeClientCertificate,
  makeExpiredServerCertificate,
  renewServerCertificate,
} from '@jobcast/testkit/certificates'
import { type MosquittoOptions, openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { BridgeSettings } from '../../../src/gateway/bridge/bridge-settings.ts'
import { bridgeTo, whenConnected } from './bridge-under-test.ts'
import { openLink } from './open-link.ts'

const options = { skip: withoutMosquitto }
const pem = (path: string) => readFileSync(path, 'utf8')
const ca = pem(certificates.ca)

const clients = { cert: certificates.serverCert, key: certificates.serverKey, clientCa: certificates.ca }
const ofService = await makeClientCertificate('jobcast')
const service = { ca, cert: pem(ofService.cert), key: pem(ofService.key) }
const expiredService = await makeClientCertificate('jobcast', { isExpired: true })
const expired = await makeExpiredServerCertificate()

test('with certificates alone: the service and an agent each sign in with their own', options, async (t) => {
  const trusted = getCACertificates('default')
  after(() => setDefaultCACertificates(trusted))
  const acl = ['user jobcast', 'topic $aws/things/#', 'pattern readwrite $aws/things/%u/#']
  const broker = await openMosquitto(t, { tls: clients, acl })
  const server = await openServer(t, { bridges: [bridgeTo(broker.url, service)] })
  await whenConnected(server)
  await server.putJobAndDevices('other', ['d1'])
  const document = { command: ['true'] }
  assert.equal((await server.call('PUT', '/job/api/jobs/hello', { body: { document } })).status, 201)

  setDefaultCACertificates([ca])
  const { cert, key } = await makeClientCertificate('d1')
  const readCertificate = () => ({ cert: pem(cert), key: pem(key) })
  const folder = temporaryFolder(t)
  const agent = await startAgent({
    deviceId: 'd1',
    server: { by: 'mqtt', url: broker.url, topicPrefix: '$aws/things', readCertificate },
    readToken: () => '',
    handlersFolder: folder,
    stateFolder: `${folder}/state`,
    allowCommands: true,
  })
  t.after(() => agent.stop())
  const { json } = await server.trigger('hello', ['d1'])
  const [{ jobExecutionId }] = [json].flat()
  const ended = await server.call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  assert.equal(ended.json.execState, 'SUCCEEDED')
})

type Wrong = { what: string; tls: MosquittoOptions['tls']; signIn: Partial<BridgeSettings>; said: RegExp }

const wrongs: Wrong[] = [
  {
    what: 'a CA that the service does not trust',
    tls: clients,
    signIn: { ...service, ca: pem(certificates.strangerCert) },
    said: /^the certificate of the broker is not trusted \(.+\)$/,
  },
  {
    what: 'an expired certificate of the broker',
    tls: { ...clients, ...expired },
    signIn: service,
    said: /^the certificate of the broker is not trusted \(certificate has expired\)$/,
  },
  {
    what: 'an expired certificate of the service',
    tls: clients,
    signIn: { ca, cert: pem(expiredService.cert), key: pem(expiredService.key) },
    said: /^the broker rejects the certificate of the service \(.*expired\)$/,
  },
  {
    what: 'no certificate of the service',
    tls: clients,
    signIn: { ca },
    said: /^the broker rejects the certificate of the service \(.*certificate required\)$/,
  },
]

for (const { what, tls, signIn, said } of wrongs)
  test(`${what} is said`, options, async (t: TestContext) => {
    const broker = await openMosquitto(t, { ...(tls && { tls }) })
    const { link, errors } = openLink(t, bridgeTo(broker.url, signIn))
    await waitUntil('it is said', () => errors.length > 0)
    assert.match(errors[0] ?? '', said)
    assert.equal(link.isUp, false)
  })

test(
  'an expired certificate is in the list and in /readyz, until the broker has a new one',
  options,
  async (t) => {
    const broker = await openMosquitto(t, { tls: { ...clients, ...expired } })
    const server = await openServer(t, { bridges: [bridgeTo(broker.url, service)] })
    const listed = async () => (await server.call('GET', '/job/api/bridges')).json.items[0]
    await waitUntil('it is down', async () => (await listed()).state === 'down')
    const said = 'the certificate of the broker is not trusted (certificate has expired)'
    assert.equal((await listed()).lastError, said)
    const ready = await fetch(`${server.server.metrics}/readyz`)
    assert.equal(ready.status, 200)
    const { bridges } = (await ready.json()) as { bridges: { lastError?: string }[] }
    assert.equal(bridges[0]?.lastError, said)
    await broker.end('SIGTERM')
    broker.setCertificate(await renewServerCertificate())
    await broker.start()
    await whenConnected(server)
  },
)
