// Plain triggers are served without Fastify: to the byte as the general way answers, which one more header leads to.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
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

/** How often Fastify came to the handler of a route. */
function watchFastify(t: TestContext): () => number {
  let count = 0
  const channel = 'tracing:fastify.request.handler:start'
  const note = () => {
    count++
  }
  subscribe(channel, note)
  t.after(() => unsubscribe(channel, note))
  return () => count
}

/**
 * Without what differs from one request to the next, and without what is said of the connection: Fastify closes it after a
 * body that is not JSON.
 */
async function answerTo(sent: string) {
  const { status, head, body } = await sendRaw(api.http, sent)
  const headers = head
    .split('\r\n')
    .slice(1)
    .filter((line) => !/^(?:date|connection|keep-alive):/i.test(line))
    .map((line) => line.replace(/^(location|x-request-id|content-length):.*/i, '$1'))
  const text = body.replaceAll(/("jobExecutionId"):\d+/g, '$1').replaceAll(/("launchedAt"):"[^"]+"/g, '$1')
  return { status, headers: headers.sort(), text }
}

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

for (const [title, body] of bodies) {
  test(`is answered as the general way does it: ${title}`, async (t) => {
    const served = watchFastify(t)
    const plain = await answerTo(requestOf(body))
    assert.equal(served(), 0, 'Fastify has served it')
    assert.deepEqual(plain, await answerTo(requestOf(body, ['x-other: 1'])))
  })
}

const keys = { 'no key at all': '', unknown: newSecretText('jc').text, 'without TRIGGER': reader, expired }
for (const [title, key] of Object.entries(keys)) {
  test(`is refused as the general way does it: a key ${title}`, async () => {
    const body = trigger(['d1'])
    assert.deepEqual(
      await answerTo(requestOf(body, [], key)),
      await answerTo(requestOf(body, ['x-other: 1'], key)),
    )
  })
}

const notPlain = [
  'idempotency-key: once',
  'x-request-id: mine',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'accept: application/problem+json',
  'cookie: a=b',
  'origin: http://x',
  'connection: close',
  'content-encoding: identity',
]
for (const header of notPlain) {
  test(`takes the general way: ${header}`, async (t) => {
    const served = watchFastify(t)
    const { status } = await sendRaw(api.http, requestOf(trigger(['d1']), [header]))
    const isServed = status === 201
    assert.equal(served(), isServed ? 1 : 0)
    assert.ok(isServed || header.startsWith('content-encoding'))
  })
}

test('a header that comes twice takes the general way, and is refused there', async () => {
  const twice = requestOf(trigger(['d1']), [`x-api-key: ${api.adminKey}`])
  assert.equal((await sendRaw(api.http, twice)).status, 403)
})

test('the body may come in pieces', async (t) => {
  const served = watchFastify(t)
  const request = requestOf(trigger(['d1', 'd2']))
  async function* pieces() {
    const isRead = nextRequest()
    yield request.slice(0, -10)
    await isRead
    yield request.slice(-10)
  }
  const { status, body } = await sendRaw(api.http, pieces())
  assert.equal(status, 201, body)
  assert.equal(served(), 0)
})

test('two requests may come in one piece', async (t) => {
  const served = watchFastify(t)
  const request = requestOf(trigger(['d1', 'd2']))
  const { text } = await sendRaw(api.http, request + request, 2)
  assert.equal(text.match(/HTTP\/1\.1 201/g)?.length, 2)
  assert.equal(served(), 0)
})

/** Resolves when the server has read the head of the next request that takes more than one read. */
function nextRequest(): Promise<void> {
  const channel = 'http.server.request.start'
  return new Promise((resolve) => {
    const note = () => {
      unsubscribe(channel, note)
      resolve()
    }
    subscribe(channel, note)
  })
}
