// Every trigger takes the same path, whatever its headers: the response is equal to the byte to that without them, over plain
// connections and over TLS.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTlsServer, tlsHost } from '@jobcast/testkit/open-tls-server'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newSecretText } from '../../src/index.ts'

const api = await openSharedServer()
const unusual = 'Kölner "Dom" \\ 塔 \u2028'
const ids = Array.from({ length: 100 }, (_, index) => `d${index}`)
await api.putJobAndDevices('update', [...ids, unusual])
const reader = (await api.newKey(['READ'])).apiKey
const expired = (await api.newKey(['TRIGGER'], { expiresAt: '2020-01-01T00:00:00Z' })).apiKey

const trigger = (deviceIds: unknown, jobName: unknown = 'update') => JSON.stringify({ jobName, deviceIds })
const requestOf = (body: string, more: string[] = [], key = api.adminKey) =>
  [
    'POST /job/api/jobs/execute HTTP/1.1',
    ...['host: x', `x-api-key: ${key}`, 'content-type: application/json', 'user-agent: a test'],
    ...[`content-length: ${Buffer.byteLength(body)}`, ...more],
    `\r\n${body}`,
  ].join('\r\n')

/** Without headers that differ between requests, and without those about the connection. */
async function answerTo(sent: string, http = api.http) {
  const { text } = await sendRaw(http, sent)
  const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n')
  const [status, ...lines] = head.split('\r\n')
  const headers = lines
    .filter((line) => !/^(?:date|connection|keep-alive):/i.test(line))
    .map((line) => line.replace(/^(location|x-request-id|content-length):.*/i, '$1'))
  const body = rest.join('\r\n\r\n')
  return { status, headers: headers.sort(), text: withoutIds(body) }
}

const withoutIds = (body: string) =>
  body.replaceAll(/("jobExecutionId"):\d+/g, '$1').replaceAll(/("launchedAt"):"[^"]+"/g, '$1')

let keys = 0
const headers: Record<string, () => string[]> = {
  'Idempotency-Key': () => [`Idempotency-Key: ${process.pid}-${++keys}`],
  'X-Forwarded-*': () => [
    'X-Forwarded-For: 203.0.113.7, 10.0.0.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: a',
  ],
  Forwarded: () => ['Forwarded: for=203.0.113.7;proto=https;by=10.0.0.1'],
  'X-Request-Id': () => ['X-Request-Id: mine'],
  'traceparent and tracestate': () => [
    'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'tracestate: a=b',
  ],
  Accept: () => ['Accept: application/json, text/plain, */*', 'Accept-Language: de'],
  'Accept-Encoding': () => ['Accept-Encoding: gzip, deflate, br, zstd'],
  Origin: () => ['Origin: http://elsewhere.example', 'Sec-Fetch-Mode: cors'],
  Cookie: () => ['Cookie: a=b'],
  Expect: () => ['Expect: 100-continue', 'Connection: close'],
  'another expectation': () => ['Expect: something-else'],
  'an upgrade': () => ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  'unknown ones': () => ['X-Other: 1', 'Via: 1.1 proxy', 'Priority: u=1'],
}
const together = () =>
  Object.entries(headers).flatMap(([name, of]) => (name === 'Expect' || name === 'an upgrade' ? [] : of()))

const bodies: [string, string][] = [
  ['one device', trigger(['d1'])],
  ['a hundred devices', trigger(ids)],
  ['a device twice', trigger(['d1', 'd2', 'd1'])],
  ['names with quotes and of other scripts', trigger([unusual])],
  ['further fields', '{"jobName":"update","deviceIds":["d1"],"other":{"more":[1]}}'],
  ['a byte order mark', `\ufeff${trigger(['d1'])}`],
  ['two byte order marks', `\ufeff\ufeff${trigger(['d1'])}`],
  ['an unknown job', trigger(['d1'], 'nowhere')],
  ['an unknown device', trigger(['d1', 'nobody'])],
  ['no devices', trigger([])],
  ['a number as device', trigger([1])],
  ['a number as job', trigger(['d1'], 1)],
  ['no job', '{"deviceIds":["d1"]}'],
  ['no object', '[]'],
  ['no JSON', '{"jobName":'],
  ['__proto__', '{"jobName":"update","deviceIds":["d1"],"__proto__":{}}'],
  ['deep nesting', `{"jobName":"update","deviceIds":["d1"],"x":${'['.repeat(200)}${']'.repeat(200)}}`],
]

const devicesOf = (list: string[]) =>
  list.map(
    (id) =>
      `{"jobExecutionId","jobName":"update","deviceId":"${id}","deviceName":"${id}","execState":"PENDING","launchedAt"}`,
  )
const fixed = [
  'cache-control: no-store',
  'content-length',
  'content-type: application/json; charset=utf-8',
  'x-content-type-options: nosniff',
  'x-request-id',
]

test('a trigger is answered with the bytes of the specification', async () => {
  assert.deepEqual(await answerTo(requestOf(trigger(['d1', 'd2']))), {
    status: 'HTTP/1.1 201 Created',
    headers: [...fixed, 'location'].sort(),
    text: `[${devicesOf(['d1', 'd2'])}]`,
  })
  assert.deepEqual(await answerTo(requestOf(trigger(['d1', 'nobody']))), {
    status: 'HTTP/1.1 404 Not Found',
    headers: fixed,
    text: '{"code":"J-001","message":"Device not found","status":404}',
  })
})

for (const [title, body] of bodies) {
  test(`is answered as without headers: ${title}`, async () => {
    assert.deepEqual(await answerTo(requestOf(body, together())), await answerTo(requestOf(body)))
  })
}

for (const [title, of] of Object.entries(headers)) {
  test(`changes nothing in an answer: ${title}`, async () => {
    for (const body of [trigger(['d1', 'd2']), trigger(['nobody'])]) {
      assert.deepEqual(await answerTo(requestOf(body, of())), await answerTo(requestOf(body)))
    }
  })
}

const callers = { 'no key at all': '', unknown: newSecretText('jc').text, 'without TRIGGER': reader, expired }
for (const [title, key] of Object.entries(callers)) {
  test(`is refused as without headers: a key ${title}`, async () => {
    const body = trigger(['d1'])
    assert.deepEqual(
      await answerTo(requestOf(body, together(), key)),
      await answerTo(requestOf(body, [], key)),
    )
  })
}

describe('over TLS', async () => {
  const tls = await openTlsServer()
  await tls.putJobAndDevices('update', ['d1', 'd2'])
  const https = tls.http.replace('localhost', tlsHost)
  const hsts = 'strict-transport-security: max-age=31536000'

  for (const [title, of] of Object.entries({ 'no headers': () => [], ...headers })) {
    test(`is answered as over a plain connection: ${title}`, async () => {
      for (const body of [trigger(['d1', 'd2']), trigger(['nobody']), '{"jobName":']) {
        const plain = await answerTo(requestOf(body))
        const expected = { ...plain, headers: [...plain.headers, hsts].sort() }
        assert.deepEqual(await answerTo(requestOf(body, of(), tls.adminKey), https), expected)
      }
    })
  }
})

test('a header that comes twice is refused where it decides something', async () => {
  const twice = requestOf(trigger(['d1']), [`x-api-key: ${api.adminKey}`])
  assert.equal((await sendRaw(api.http, twice)).status, 403)
})

test('a caller stays connected after a body that is not JSON, which was read whole', async () => {
  const { closed, status } = await sendRaw(api.http, requestOf('{"jobName":'))
  assert.deepEqual({ closed, status }, { closed: false, status: 400 })
})
