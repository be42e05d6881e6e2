// Test requests to webhooks, which are not events.

import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer({
  webhookAllow: ['127.0.0.1'],
  quotas: { ...noQuotas, webhooks: 100 },
})
const webhooks = '/job/api/webhooks'
let names = 0

async function openWebhook(t: TestContext, key = api.adminKey) {
  const receiver = await WebhookReceiver.open(t)
  const name = `tried-${++names}`
  const call = (method: string, path = '', body?: unknown) =>
    api.call(method, `${webhooks}/${name}${path}`, { key, ...(body !== undefined && { body }) })
  const created = await call('PUT', '', { url: receiver.url, eventTypes: ['key.created'] })
  assert.equal(created.status, 201)
  t.after(() => call('DELETE'))
  return { receiver, name, call, secret: created.json.secret as string }
}

test('is sent at once, signed, also to a paused webhook, and leaves nothing behind', async (t) => {
  const { receiver, name, call, secret } = await openWebhook(t)
  await call('POST', '/pause')
  const before = (await call('GET')).json
  for (const status of [204, 500, 410]) {
    receiver.answer = () => status
    const reply = await call('POST', '/test')
    const { ms, ...outcome } = reply.json
    const error = status === 204 ? null : `the receiver answered ${status}: thank you`
    assert.deepEqual([reply.status, outcome], [200, { status, error }])
    assert.ok(ms >= 0 && ms < 15_000)
  }
  receiver.verifyAll(secret)
  const [{ id, event, headers } = assert.fail()] = receiver.received
  assert.match(id, /^test_[0-9a-f-]{36}$/)
  assert.equal(new Set(receiver.received.map((each) => each.id)).size, 3)
  const timestamp = event.timestamp
  assert.deepEqual(event, { eventId: 0, type: 'webhook.test', timestamp, data: { webhookName: name } })
  assert.match(headers['user-agent'] ?? '', /^Jobcast\/\d/)
  assert.deepEqual((await call('GET')).json, before)
  assert.deepEqual((await call('GET', '/deliveries')).json.items, [])
})

test('a 410 does not pause an active webhook, and a new secret signs beside the old one', async (t) => {
  const { receiver, call, secret } = await openWebhook(t)
  const changed = await call('POST', '/secret')
  receiver.answer = () => 410
  assert.equal((await call('POST', '/test')).json.status, 410)
  receiver.verifyAll(secret, changed.json.secret)
  assert.equal((await call('GET')).json.state, 'ACTIVE')
})

test('what does not resolve, is forbidden, or refuses looks the same, also to a caller with a clock', async (t) => {
  const { receiver, call } = await openWebhook(t)
  await receiver.stop()
  // These names are ::1 where they are known, which is not allowed here; PUT cannot know it.
  const isKnown = (name: string) =>
    lookup(name).then(
      () => true,
      () => false,
    )
  const forbidden: string[] = []
  for (const name of ['ip6-localhost', 'ip6-loopback']) if (await isKnown(name)) forbidden.push(name)
  // Longer than a label may be: no name server is asked, which could take longer than the sender waits.
  const unknown = `${'nobody'.repeat(11)}.invalid`
  for (const url of [receiver.url, ...[unknown, ...forbidden].map((name) => `http://${name}/`)]) {
    assert.equal((await call('PUT', '', { url })).status, 200)
    const begun = performance.now()
    const { ms, ...outcome } = (await call('POST', '/test')).json
    // A timer may be a millisecond early.
    assert.ok(performance.now() - begun >= ms - 2, `${url} took less than ${ms} ms`)
    assert.deepEqual([outcome, ms % 1000], [{ status: null, error: 'could not connect' }, 0], url)
    assert.ok(ms >= 1000)
  }
})

test('a redirect is not followed', async (t) => {
  const target = await WebhookReceiver.open(t)
  const { receiver, call } = await openWebhook(t)
  receiver.headers = { location: target.url }
  receiver.answer = () => 307
  const { status, error } = (await call('POST', '/test')).json
  assert.deepEqual([status, error], [307, 'redirects are not followed'])
  assert.equal(target.received.length, 0)
})

test('one owner has at most 32 in progress; another one is not held up', async (t) => {
  const busy = await openWebhook(t, (await api.newOwner('busy with tests')).key)
  const { call } = await openWebhook(t)
  busy.receiver.answer = () => 'hang'
  const held = Array.from({ length: 32 }, () => busy.call('POST', '/test'))
  await busy.receiver.until('all are in progress', () => busy.receiver.received.length === 32)
  assertRefused(await busy.call('POST', '/test'), 'J-908')
  assert.equal((await call('POST', '/test')).json.status, 204)
  await busy.receiver.stop()
  for (const { json } of await Promise.all(held)) {
    assert.deepEqual([json.status, typeof json.error], [null, 'string'])
  }
  await busy.receiver.start()
  busy.receiver.answer = () => 204
  assert.equal((await busy.call('POST', '/test')).json.status, 204)
})

test('a webhook that is not there answers J-307', async () => {
  assertRefused(await api.call('POST', `${webhooks}/nothing/test`), 'J-307')
})
