// Keys in the wrong place, methods and paths the trigger does not have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { rawRequest } from '@jobcast/testkit/raw-request'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused, errorText } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1'])
const { adminKey } = api
const body = '{"jobName":"update","deviceIds":["d1"]}'

const misplacedKeys: { title: string; headers: string[]; line?: string }[] = [
  { title: 'no key', headers: ['X-API-Key'] },
  { title: 'an empty key', headers: ['X-API-Key:'] },
  { title: 'two equal keys', headers: [`X-API-Key: ${adminKey}`, `X-API-Key: ${adminKey}`] },
  { title: 'a good and a bad key', headers: [`X-API-Key: ${adminKey}`, 'x-api-key: jc_bad'] },
  { title: 'a bad and a good key', headers: ['x-api-key: jc_bad', `X-API-Key: ${adminKey}`] },
  { title: 'two keys in one header', headers: [`X-API-Key: ${adminKey}, ${adminKey}`] },
  { title: 'a key beyond ASCII', headers: [`X-API-Key: ${'\u00ff'.repeat(adminKey.length)}`] },
  { title: 'the key as a cookie', headers: ['X-API-Key', `Cookie: X-API-Key=${adminKey}`] },
  { title: 'the key as a bearer', headers: ['X-API-Key', `Authorization: Bearer ${adminKey}`] },
  { title: 'the key in Authorization', headers: ['X-API-Key', `Authorization: ${adminKey}`] },
  { title: 'the key as Api-Key', headers: ['X-API-Key', `Api-Key: ${adminKey}`] },
  {
    title: 'the key in the query',
    headers: ['X-API-Key'],
    line: `POST /job/api/jobs/execute?X-API-Key=${adminKey}&apiKey=${adminKey} HTTP/1.1`,
  },
]
for (const { title, ...request } of misplacedKeys) {
  test(`answers J-802 to ${title}`, async () => {
    assertRefused(await sendRaw(api.http, rawRequest(adminKey, { body, ...request })), 'J-802')
  })
}

for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']) {
  const line = `${method} /job/api/jobs/execute HTTP/1.1`
  for (const [kind, content] of Object.entries({ 'a good': body, 'a bad': '{', no: '' })) {
    test(`answers J-902 with Allow to ${method} with ${kind} body`, async () => {
      const reply = await sendRaw(api.http, rawRequest(adminKey, { line, body: content }))
      assert.equal(reply.status, 405)
      assert.match(reply.head, /^allow: POST$/im)
      assert.equal(reply.body, method === 'HEAD' ? '' : errorText('J-902'))
    })
  }
  test(`answers J-802 to ${method} without a key`, async () => {
    const reply = await sendRaw(api.http, rawRequest('', { line, headers: ['X-API-Key'] }))
    assert.equal(reply.status, 403)
    assert.doesNotMatch(reply.head, /^allow:/im)
  })
}

const otherPaths = [
  '/job/api/jobs/execute/',
  '/job/api/jobs/execute//',
  '//job/api/jobs/execute',
  '/job//api/jobs/execute',
  '/job/api/jobs//execute',
  '/JOB/API/JOBS/EXECUTE',
  '/job/api/jobs/Execute',
  '/job/api/Jobs/execute',
  '/job/api/jobs/../jobs/execute',
  '/job/api/jobs/x/../execute',
  '/job/api/jobs/execute/..',
  '/job/api/jobs/%2e%2e/jobs/execute',
  '/job/api/jobs%2Fexecute',
  '/job/api/jobs%5Cexecute',
  '/job/api/jobs/execute%zz',
  '/job/api/jobs/%ff',
  '/job/api/jobs/',
  '/job/api',
  '/job/api/',
  '/job/api/nothing?jobName=update',
]
for (const path of otherPaths) {
  const line = `POST ${path} HTTP/1.1`
  for (const content of [body, '{']) {
    test(`answers J-901 to ${path} with the body ${content}`, async () => {
      assertRefused(await sendRaw(api.http, rawRequest(adminKey, { line, body: content })), 'J-901')
    })
  }
  test(`answers J-802 to ${path} without a key`, async () => {
    assertRefused(await sendRaw(api.http, rawRequest('', { line, headers: ['X-API-Key'] })), 'J-802')
  })
}

for (const method of ['TRACE', 'PROPFIND', 'QUERY']) {
  test(`answers J-901 to the method ${method}, which no path has`, async () => {
    const line = `${method} /job/api/jobs/execute HTTP/1.1`
    assertRefused(await sendRaw(api.http, rawRequest(adminKey, { line })), 'J-901')
  })
}

test('answers J-901 outside of /job/api without asking for a key', async () => {
  for (const path of [
    '/job',
    '/job/apis',
    '/favicon.ico',
    '/%zz',
    '/../job/api/jobs/execute',
    '/docs/static/../../x',
    '/docs/static/none',
  ]) {
    const line = `GET ${path} HTTP/1.1`
    assertRefused(await sendRaw(api.http, rawRequest('', { line, headers: ['X-API-Key'] })), 'J-901')
  }
})

test('has created nothing, counts no internal error, and still responds', async () => {
  assert.deepEqual((await api.call('GET', '/job/api/executions')).json.items, [])
  assert.match((await api.call('GET', '/metrics')).text, /^jobcast_http_failures_total 0$/m)
  assert.equal((await api.trigger('update', ['d1'])).status, 201)
})
