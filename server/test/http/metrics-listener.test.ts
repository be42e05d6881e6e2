// Metrics and health checks have a port of their own; on the port of the API metrics are served only where that is set.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'

const onlyOnItsOwn = { host: '127.0.0.1', port: 0, isDefaultPort: true, isOnApi: false }

test('the listener serves /metrics, /livez and /readyz, and nothing else', async (t) => {
  const { server, http } = await openServer(t, { metrics: onlyOnItsOwn })
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(server.metrics + path, { method })
    return { status: response.status, text: await response.text() }
  }
  assert.match((await get('/metrics')).text, /^jobcast_http_failures_total 0$/m)
  assert.deepEqual(await get('/livez'), { status: 200, text: '{"status":"ok"}' })
  assert.deepEqual(await get('/readyz'), { status: 200, text: '{"status":"ok"}' })
  assert.equal((await get('/job/api/jobs')).status, 404)
  assert.equal((await get('/metrics', 'POST')).status, 405)
  assert.equal((await fetch(`${http}/metrics`)).status, 404)
})

test('a second service on the default port goes without metrics; one that was given the port does not start', async (t) => {
  const first = await openServer(t, { metrics: onlyOnItsOwn })
  const port = Number(new URL(first.server.metrics ?? '').port)
  const second = await openServer(t, { metrics: { ...onlyOnItsOwn, port } })
  assert.equal(second.server.metrics, undefined)
  assert.equal((await second.call('GET', '/livez')).status, 200)
  await assert.rejects(
    openServer(t, { metrics: { ...onlyOnItsOwn, port, isDefaultPort: false } }),
    /EADDRINUSE/,
  )
})

test('requests without a route and with a wrong method share one label', async (t) => {
  const { call } = await openServer(t)
  for (const path of ['/a', '/b', '/job/api/nothing']) await call('GET', path)
  for (const method of ['PUT', 'PATCH', 'DELETE']) await call(method, '/job/api/jobs')
  const { text } = await call('GET', '/metrics')
  const counts = text
    .split('\n')
    .filter((line) => line.startsWith('jobcast_http_request_duration_seconds_count'))
  assert.deepEqual(counts.sort(), [
    'jobcast_http_request_duration_seconds_count{method="any",route="none",status="404"} 3',
    'jobcast_http_request_duration_seconds_count{method="any",route="none",status="405"} 3',
  ])
})
