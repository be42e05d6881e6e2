import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type FleetEvent, registerDevices, startFleet } from '@jobcast/sim'
import { mqttPortOf, openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'

// openTlsServer makes this process trust its certificates; files that run later in the same process must not.
const trustedBefore = getCACertificates('default')
after(() => setDefaultCACertificates(trustedBefore))
const server = await openTlsServer()
await server.call('PUT', '/job/api/jobs/restart', { body: {} })
const devices = await registerDevices(server.call, ['sim-1'])
const mqtt = `mqtts://${tlsHost}:${mqttPortOf(server)}`

test('devices connect over TLS and carry out what is triggered', async (t) => {
  const fleet = startFleet({ mqtt, devices, pattern: { workSeconds: { from: 0, to: 0 } } })
  t.after(() => fleet.stop())
  const [{ jobExecutionId }] = (await server.trigger('restart', ['sim-1'])).json
  const { json } = await server.call('GET', `/job/api/executions/${jobExecutionId}?wait=60`)
  assert.equal(json.execState, 'SUCCEEDED')
})

test('a certificate that nobody trusts is not trusted, unless that was asked for', async (t) => {
  setDefaultCACertificates([])
  const reason = await new Promise((resolve) => {
    const tell = (event: FleetEvent) => event.kind === 'connect-failed' && resolve(event.reason)
    const distrustful = startFleet({ mqtt, devices, tell })
    t.after(() => distrustful.stop())
  })
  assert.match(String(reason), /certificate/)
  const trustful = startFleet({ mqtt, devices, trustAnyCertificate: true })
  t.after(() => trustful.stop())
  await trustful.whenUp()
  assert.equal(trustful.counts().online, 1)
})
