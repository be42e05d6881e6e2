// Health, metrics, request ids and the documentation page: without a key, and without content from other origins.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1', 'd2'])
const get = (path: string) => fetch(new URL(path, api.http))

for (const path of ['/livez', '/readyz']) {
  test(`${path} answers 200 without a key`, async () => {
    const response = await get(path)
    assert.equal(response.status, 200)
    assert.equal(await response.text(), '{"status":"ok"}')
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  })
}

test('an upgrade to something else than WebSocket is a request like any other', async () => {
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' }
  const asked = request(new URL('/livez', api.http), { headers, agent: false }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  assert.equal(response.statusCode, 200)
})

test('/metrics counts requests by route, commits and executions', async () => {
  await api.trigger('update', ['d1', 'd2'])
  await api.trigger('nowhere', ['d1'])
  const response = await get('/metrics')
  const text = await response.text()
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const wanted = [
    'jobcast_http_request_duration_seconds_count{method="POST",route="/job/api/jobs/execute",status="201"} 1',
    'jobcast_http_request_duration_seconds_count{method="POST",route="/job/api/jobs/execute",status="404"} 1',
    'jobcast_http_failures_total 0',
    'jobcast_storage_unavailable_total 0',
    'jobcast_committed_items_total{of="devices"} 2',
    'jobcast_triggers_waiting 0',
  ]
  const lines = text.split('\n')
  for (const line of wanted) assert.ok(lines.includes(line), `${line} is missing`)
  assert.match(text, /^jobcast_executions_created_total 2$/m)
  assert.match(text, /^process_resident_memory_bytes \d+$/m)
})

test('/metrics holds no names, no addresses and no keys', async () => {
  const { keyId, apiKey } = await api.newKey(['READ'])
  for (const path of ['/job/api/jobs/canary', '/job/api/canary', '/canary', '/job/api/jobs?cursor=canary']) {
    await api.call('GET', path, { key: apiKey })
  }
  const text = await (await get('/metrics')).text()
  for (const secret of ['canary', apiKey, keyId]) assert.ok(!text.includes(secret))
})

test('every answer has an X-Request-Id of its own, unless the caller sent one that is well formed', async () => {
  const headers = { 'x-request-id': 'not "mine"' }
  const replies = [
    await api.call('GET', '/livez', { headers }),
    await api.call('GET', '/docs/', { headers }),
    await api.call('GET', '/nothing', { headers }),
    await api.call('GET', '/job/api/%zz', { headers }),
    await api.call('PUT', '/job/api/jobs/execute', { headers }),
    await api.call('GET', '/job/api/jobs', { key: 'bad', headers }),
    await api.trigger('update', [], { headers }),
    await api.trigger('update', ['d1'], { headers }),
  ]
  const ids = replies.map((reply) => reply.headers.get('x-request-id'))
  for (const id of ids) assert.match(id ?? '', /^[0-9a-z]+-[0-9a-z]+$/)
  assert.equal(new Set(ids).size, ids.length)
  const kept = await api.trigger('update', ['d1'], { headers: { 'x-request-id': 'mine' } })
  assert.equal(kept.headers.get('x-request-id'), 'mine')
})

test('the service routes answer J-902 with Allow to another method, without a key', async () => {
  for (const path of ['/livez', '/readyz', '/metrics', '/openapi.json']) {
    const response = await fetch(new URL(path, api.http), { method: 'POST', body: 'x' })
    assert.equal(response.headers.get('allow'), 'GET, HEAD')
    assertRefused({ status: response.status, text: await response.text() }, 'J-902')
  }
})

test('/docs loads everything it needs from this server', async () => {
  const page = await get('/docs')
  assert.equal(page.status, 200)
  const html = await page.text()
  const sources = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), (match) => match[1] as string)
  assert.ok(sources.length >= 5)
  for (const source of sources) {
    const url = new URL(source, page.url.endsWith('/') ? page.url : `${page.url}/`)
    assert.equal(url.origin, new URL(api.http).origin)
    assert.equal((await fetch(url)).status, 200, source)
  }
})

test('/docs may load nothing from elsewhere, and http stays http', async () => {
  const policy = (await get('/docs/')).headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'self'/)
  for (const word of policy.split(/[;\s]+/).filter(Boolean)) {
    assert.match(word, /^(?:[a-z]+(?:-[a-z]+)*|'self'|'none'|'unsafe-inline'|data:)$/)
  }
  assert.doesNotMatch(policy, /upgrade-insecure-requests/)
})

test('/docs cannot be framed, sends no referrer and shares no window with other sites', async () => {
  for (const path of ['/docs', '/docs/', '/docs/static/index.html', '/docs/static/none']) {
    const { headers } = await get(path)
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
  }
  const policy = (await get('/docs/')).headers.get('content-security-policy') ?? ''
  for (const rule of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"])
    assert.ok(policy.includes(rule), rule)
})

test('an unknown address is a page for a browser and JSON for a program; the API answers JSON to both', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const open = (path: string, headers: Record<string, string> = browser, method = 'GET') =>
    fetch(new URL(path, api.http), { headers, method })
  for (const path of ['/nope', '/jobsandmore', '/assets/none.js', '/%zz', '/<script>alert(1)</script>']) {
    const page = await open(path)
    assert.equal(page.status, 404, path)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    const html = await page.text()
    assert.match(html, /<h1>Page not found<\/h1>.*<a href="\/">/s)
    assert.ok(!html.includes('script'))
  }
  assert.equal((await open('/nope', browser, 'HEAD')).headers.get('content-type'), 'text/html; charset=utf-8')
  const asJson: [string, Record<string, string>, string][] = [
    ['/nope', { accept: '*/*' }, 'GET'],
    ['/nope', browser, 'POST'],
    ['/job/nope', browser, 'GET'],
    ['/job/api/nope', { ...browser, 'x-api-key': api.adminKey }, 'GET'],
  ]
  for (const [path, headers, method] of asJson) {
    const reply = await open(path, headers, method)
    assertRefused({ status: reply.status, text: await reply.text() }, 'J-901')
  }
  assert.match((await (await open('/things/d1/nope')).text()).slice(0, 1), /\{/)
})

test('/docs asks this server for the document and no other for its opinion of it', async () => {
  const script = await (await get('/docs/static/swagger-initializer.js')).text()
  assert.match(script, /url: resolveUrl\('\.\/json'\)/)
  assert.match(script, /validatorUrl: null/)
  assert.match(script, /"persistAuthorization":false/)
  const shown = await (await get('/docs/json')).json()
  assert.deepEqual(shown, await (await get('/openapi.json')).json())
})
