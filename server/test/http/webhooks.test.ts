// Webhooks as seen by their owner: creation, pauses, secrets, the log, replays.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import { freePort } from '@jobcast/testkit/free-port'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { Webhook } from 'standardwebhooks'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer({
  webhookAllow: ['127.0.0.1'],
  quotas: { ...noQuotas, webhooks: 100 },
})
const webhooks = '/job/api/webhooks'
let names = 0
const newName = () => `webhook-${++names}`
const put = (name: string, body: unknown, key = api.adminKey) =>
  api.call('PUT', `${webhooks}/${name}`, { body, key })
const post = (path: string, body?: unknown, key = api.adminKey) =>
  api.call('POST', `${webhooks}/${path}`, { key, ...(body !== undefined && { body }) })
const read = async (name: string) => (await api.call('GET', `${webhooks}/${name}`)).json
const deliveriesOf = async (name: string, query = '') =>
  (await api.call('GET', `${webhooks}/${name}/deliveries${query}`)).json

let devices = 0
/** One event, of a device of its own. */
async function makeEvent(): Promise<string> {
  const deviceId = `device-${++devices}`
  assert.equal((await api.call('PUT', `/job/api/devices/${deviceId}`)).status, 201)
  return deviceId
}

/** A webhook for the devices that are made, with a receiver of its own. */
async function openWebhook(t: TestContext, more: object = {}) {
  const receiver = await WebhookReceiver.open(t)
  const name = newName()
  const created = await put(name, { url: receiver.url, eventTypes: ['device.created'], ...more })
  assert.equal(created.status, 201)
  t.after(() => api.call('DELETE', `${webhooks}/${name}`))
  return { receiver, name, secret: created.json.secret as string }
}

const untilAccepted = (receiver: WebhookReceiver, count: number) =>
  receiver.until(`${count} are accepted`, () => receiver.accepted.length >= count)

/** What was answered to the receiver may be written down a moment later. */
async function untilDelivered(name: string, count: number): Promise<void> {
  await waitUntil(`${count} are delivered`, async () => {
    const { items } = await deliveriesOf(name, '?state=DELIVERED&limit=200')
    return items.length >= count
  })
}

test('PUT answers 201 with the secret, which is shown only once, then 200', async () => {
  const name = newName()
  const body = { url: 'https://hook.invalid/hook', eventTypes: ['run.*'], jobName: 'restart', deviceId: 'd1' }
  const created = await put(name, body)
  assert.equal(created.status, 201)
  const { secret, ...webhook } = created.json
  const { keyId, keyName } = (await api.call('GET', '/job/api/keys/self')).json
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(webhook, {
    webhookName: name,
    ...body,
    format: 'jobcast',
    jobs: null,
    where: null,
    state: 'ACTIVE',
    pausedBecause: null,
    pausedAt: null,
    lastDeliveredAt: null,
    failingSince: null,
    lastFailure: null,
    createdAt: webhook.createdAt,
    updatedAt: webhook.createdAt,
    createdBy: `key:${keyId}`,
    createdByName: keyName,
    createdBySession: null,
  })
  assert.deepEqual(await read(name), webhook)
  const replaced = await put(name, { url: 'https://hook.invalid/other' })
  assert.equal(replaced.status, 200)
  assert.deepEqual(replaced.json, {
    ...webhook,
    url: 'https://hook.invalid/other',
    eventTypes: [],
    jobName: null,
    deviceId: null,
    updatedAt: replaced.json.updatedAt,
  })
  const listed = await api.call('GET', `${webhooks}?limit=200`)
  assert.ok(listed.json.items.some((each: { webhookName: string }) => each.webhookName === name))
  assert.doesNotMatch(listed.text + replaced.text, /whsec_/)
  assert.equal((await api.call('DELETE', `${webhooks}/${name}`)).status, 204)
  assertRefused(await api.call('GET', `${webhooks}/${name}`), 'J-307')
})

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
test('a secret of 24 to 64 bytes can be brought along', async () => {
  const name = newName()
  for (const bytes of [24, 25, 26, 64]) {
    const reply = await put(`${name}-${bytes}`, { url: 'https://hook.invalid', secret: secretOf(bytes) })
    assert.deepEqual([reply.status, reply.json.secret], [201, secretOf(bytes)])
  }
})

const url = 'https://hook.invalid'
const refusedBodies: Record<string, unknown> = {
  'no url': {},
  'a url that is none': { url: 'hook.invalid' },
  'another scheme': { url: 'ftp://hook.invalid' },
  'a url without a host': { url: 'https://' },
  'a port that there is not': { url: 'https://hook.invalid:70000' },
  'a blank in the url': { url: 'https://hook.invalid/a b' },
  'a url that is too long': { url: `https://hook.invalid/${'a'.repeat(2000)}` },
  'a user name': { url: 'https://user@hook.invalid' },
  'a password': { url: 'https://user:password@hook.invalid' },
  'a private address': { url: 'http://10.0.0.1/' },
  'another loopback address': { url: 'http://127.0.0.2/' },
  'a loopback address in other words': { url: 'http://0x7f.2/' },
  'a loopback address as IPv6': { url: 'http://[::1]/' },
  'a link-local address': { url: 'http://169.254.169.254/latest/meta-data' },
  'a private address inside IPv6': { url: 'http://[::ffff:10.0.0.1]/' },
  'an event that there is not': { url, eventTypes: ['execution.exploded'] },
  'an event given twice': { url, eventTypes: ['run.*', 'run.*'] },
  'an empty jobName': { url, jobName: '' },
  'a secret that is too short': { url, secret: secretOf(23) },
  'a secret that is too long': { url, secret: secretOf(65) },
  'a secret that is no base64': { url, secret: `${secretOf(24)}A` },
  'a secret of another kind': { url, secret: 'hunter2hunter2hunter2hunter2hunter2' },
  'a state': { url, state: 'PAUSED' },
}
for (const [title, body] of Object.entries(refusedBodies)) {
  test(`PUT answers J-500 to ${title}`, async () => {
    assertRefused(await put(newName(), body), 'J-500')
  })
}

test('localhost is refused where loopback is not allowed, and problem+json names the setting', async () => {
  const strict = await openSharedServer()
  for (const host of ['localhost:80', 'a.localhost']) {
    const reply = await strict.call('PUT', `${webhooks}/w`, {
      body: { url: `http://${host}/` },
      headers: { accept: 'application/problem+json' },
    })
    assert.equal(reply.status, 400)
    assert.deepEqual([reply.json.code, reply.json.field], ['J-500', 'url'])
    assert.match(reply.json.detail, /webhook-allow/)
  }
})

test('an owner has as many as the quota allows', async () => {
  const { key } = await api.newOwner('many webhooks')
  const replies = await Promise.all(Array.from({ length: 101 }, (_, index) => put(`w${index}`, { url }, key)))
  assert.equal(replies.filter(({ status }) => status === 201).length, 100)
  assert.deepEqual(
    replies.flatMap(({ json }) => json.code ?? []),
    ['J-912'],
  )
  const { items } = (await api.call('GET', `${webhooks}?limit=200`, { key })).json
  assert.equal((await put(items[0].webhookName, { url }, key)).status, 200)
})

test('without MANAGE only the scheme and host of a URL are shown, in get and list', async (t) => {
  const name = newName()
  const url = 'https://hook.invalid:8443/services/T0/secret?token=secret#secret'
  const created = await put(name, { url })
  t.after(() => api.call('DELETE', `${webhooks}/${name}`))
  assert.equal(created.json.url, url)
  const shownTo = async (...scopes: Scope[]) => {
    const key = (await api.newKey(scopes)).apiKey
    const got = await api.call('GET', `${webhooks}/${name}`, { key })
    const { items } = (await api.call('GET', `${webhooks}?limit=200`, { key })).json
    const listed = items.find(({ webhookName }: { webhookName: string }) => webhookName === name)
    const deliveries = await api.call('GET', `${webhooks}/${name}/deliveries`, { key })
    assert.equal(deliveries.text.includes('secret'), false)
    return [got.json.url, listed.url]
  }
  const origin = 'https://hook.invalid:8443'
  assert.deepEqual(await shownTo('READ'), [origin, origin])
  assert.deepEqual(await shownTo('READ', 'TRIGGER', 'ADMIN'), [origin, origin])
  assert.deepEqual(await shownTo('READ', 'MANAGE'), [url, url])
})

test('the log does not distinguish an unknown host from a closed port', async (t) => {
  const port = await freePort()
  const attempts: unknown[] = []
  // Of the addresses of localhost, 127.0.0.1 is allowed. Names with forbidden addresses only: see event-poster.test.ts.
  // A label as long as the first name's is not sent to a name server, which could take longer than the sender waits.
  for (const host of [`${'nobody'.repeat(11)}.invalid`, 'localhost', '127.0.0.1']) {
    const name = newName()
    await put(name, { url: `http://${host}:${port}/`, eventTypes: ['device.created'] })
    t.after(() => api.call('DELETE', `${webhooks}/${name}`))
    await makeEvent()
    const first = () => deliveriesOf(name).then(({ items }) => items[0]?.attempts[0])
    const { at: _, ms, ...attempt } = await waitFor(first)
    // Whole seconds, and one unless the machine is busy.
    attempts.push({ ...attempt, isRounded: ms >= 1000 && ms % 1000 === 0 })
  }
  const same = { status: null, error: 'could not connect', isRounded: true }
  assert.deepEqual(attempts, [same, same, same])
})

async function waitFor<T>(read: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined
  await waitUntil('it is there', async () => {
    found = await read()
    return found !== undefined
  })
  return found as T
}

test("every call answers J-307 for an unknown webhook, and for another owner's", async () => {
  const name = newName()
  await put(name, { url })
  const { key } = await api.newOwner('a stranger')
  const since = { since: '2026-11-15T09:30:00Z' }
  const calls: [string, string, unknown?][] = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/secret'],
    ['POST', '/replay', since],
    ['GET', '/deliveries'],
    ['POST', '/deliveries/1/replay'],
  ]
  for (const [method, path, body] of calls) {
    const more = body === undefined ? {} : { body }
    assertRefused(await api.call(method, `${webhooks}/nowhere${path}`, more), 'J-307')
    assertRefused(await api.call(method, `${webhooks}/${name}${path}`, { key, ...more }), 'J-307')
  }
  assert.equal((await read(name)).state, 'ACTIVE')
})

test('events from its creation on are sent, signed, and stand in the log', async (t) => {
  await makeEvent()
  const { receiver, name, secret } = await openWebhook(t)
  const deviceIds = [await makeEvent(), await makeEvent()]
  await untilAccepted(receiver, 2)
  receiver.verifyAll(secret)
  for (const { id, event } of receiver.received) assert.equal(id, `evt_${event.eventId}`)
  // Different devices: these two may overtake each other.
  const events = receiver.received.map(({ event }) => event).toSorted((a, b) => a.eventId - b.eventId)
  assert.deepEqual(
    events.map(({ data }) => data.deviceId),
    deviceIds,
  )
  const [{ headers } = assert.fail()] = receiver.received
  assert.equal(headers['content-type'], 'application/json')
  assert.match(headers['user-agent'] ?? '', /^Jobcast\/\d/)
  await untilDelivered(name, 2)
  const { items, nextCursor } = await deliveriesOf(name, '?limit=1')
  assert.equal(items[0].eventId, events[1].eventId)
  const [attempt] = items[0].attempts
  assert.deepEqual(items, [
    {
      eventId: events[1].eventId,
      type: 'device.created',
      state: 'DELIVERED',
      attempts: [{ at: attempt.at, status: 204, error: null, ms: attempt.ms }],
      nextAttemptAt: null,
    },
  ])
  const next = await deliveriesOf(name, `?limit=1&cursor=${nextCursor}`)
  assert.deepEqual([next.items[0].eventId, next.nextCursor], [events[0].eventId, null])
  assert.deepEqual((await deliveriesOf(name, '?state=FAILED')).items, [])
  assert.ok((await read(name)).lastDeliveredAt)
})

test('a paused webhook gets nothing; resumed, it gets the events since then, possibly twice', async (t) => {
  const { receiver, name } = await openWebhook(t)
  const paused = (await post(`${name}/pause`)).json
  assert.deepEqual([paused.state, paused.pausedBecause], ['PAUSED', 'owner'])
  assert.deepEqual((await post(`${name}/pause`)).json, paused)
  await makeEvent()
  assert.equal((await put(name, { url: receiver.url })).json.state, 'PAUSED')
  assert.equal(receiver.received.length, 0)
  for (let i = 0; i < 2; i++) {
    const { state, pausedBecause, pausedAt } = (await post(`${name}/resume`)).json
    assert.deepEqual([state, pausedBecause, pausedAt], ['ACTIVE', null, null])
  }
  await untilAccepted(receiver, 1)
})

test('with a new secret both sign for a day', async (t) => {
  const { receiver, name, secret } = await openWebhook(t)
  const changed = await post(`${name}/secret`)
  assert.equal(changed.status, 201)
  assert.deepEqual(Object.keys(changed.json), ['webhookName', 'secret'])
  assert.notEqual(changed.json.secret, secret)
  await makeEvent()
  await untilAccepted(receiver, 1)
  receiver.verifyAll(secret, changed.json.secret)
  await put(name, { url: receiver.url, secret: secretOf(32) })
  await makeEvent()
  await untilAccepted(receiver, 2)
  const [, { body, headers } = assert.fail()] = receiver.received
  for (const each of [secretOf(32), changed.json.secret]) new Webhook(each).verify(body, headers)
  assert.throws(() => new Webhook(secret).verify(body, headers))
})

test('410 pauses it; resumed, the event is sent', async (t) => {
  const { receiver, name } = await openWebhook(t)
  receiver.answer = () => 410
  await makeEvent()
  await receiver.until('it is told', () => receiver.received.length === 1)
  await waitUntil('it is paused', async () => (await read(name)).pausedBecause === 'gone')
  const [delivery] = (await deliveriesOf(name)).items
  const [{ at, status, error }] = delivery.attempts
  assert.deepEqual([delivery.state, status], ['PENDING', 410])
  assert.deepEqual((await read(name)).lastFailure, { at, status, error })
  receiver.answer = () => 204
  await post(`${name}/resume`)
  await untilAccepted(receiver, 1)
  assert.equal(receiver.received.length, 2)
})

test('a redirect is a failure, and is not followed', async (t) => {
  const target = await WebhookReceiver.open(t)
  const { receiver, name } = await openWebhook(t)
  receiver.headers = { location: target.url }
  receiver.answer = () => 307
  await makeEvent()
  await receiver.until('it is told', () => receiver.received.length === 1)
  await waitUntil('that is written', async () => (await deliveriesOf(name)).items.length > 0)
  const [delivery] = (await deliveriesOf(name)).items
  assert.equal(delivery.attempts[0].error, 'redirects are not followed')
  assert.ok(delivery.nextAttemptAt)
  assert.equal(target.received.length, 0)
  assert.ok((await read(name)).failingSince)
})

test('a replay of one answers 202 and sends it again', async (t) => {
  const { receiver, name } = await openWebhook(t)
  await makeEvent()
  await untilDelivered(name, 1)
  const [{ eventId }] = (await deliveriesOf(name)).items
  const reply = await post(`${name}/deliveries/${eventId}/replay`)
  assert.equal(reply.status, 202)
  assert.deepEqual(
    [reply.json.eventId, reply.json.state, reply.json.attempts.length],
    [eventId, 'PENDING', 1],
  )
  await untilAccepted(receiver, 2)
  assert.deepEqual(new Set(receiver.received.map(({ id }) => id)), new Set([`evt_${eventId}`]))
})

test('a replay of one answers J-308 for what is unknown, foreign, or does not match', async (t) => {
  const { receiver, name } = await openWebhook(t)
  await makeEvent()
  await untilDelivered(name, 1)
  const [{ eventId }] = (await deliveriesOf(name)).items
  const refused = async (webhookName: string, id: number) =>
    assertRefused(await post(`${webhookName}/deliveries/${id}/replay`), 'J-308')
  await refused(name, 987654321)
  const { key } = await api.newOwner('somebody else')
  await put('theirs', { url }, key)
  assertRefused(await post(`theirs/deliveries/${eventId}/replay`, undefined, key), 'J-308')
  const other = await openWebhook(t, { eventTypes: ['run.*'] })
  await refused(other.name, eventId)
  await put(other.name, { url: other.receiver.url })
  assert.equal((await post(`${other.name}/deliveries/${eventId}/replay`)).status, 202)
  await untilAccepted(other.receiver, 1)
  // What was sent can be sent again, also when the filter is another by now.
  await put(name, { url: receiver.url, eventTypes: ['run.*'] })
  assert.equal((await post(`${name}/deliveries/${eventId}/replay`)).status, 202)
  await untilAccepted(receiver, 2)
  assertRefused(await post(`${name}/deliveries/0/replay`), 'J-500')
  assertRefused(await post(`${name}/deliveries/x/replay`), 'J-500')
})

test('a replay of all since an instant answers 202 and sends them again, in order', async (t) => {
  const { receiver, name } = await openWebhook(t)
  for (let i = 0; i < 3; i++) await makeEvent()
  await untilDelivered(name, 3)
  const ids = receiver.received.map(({ id }) => id)
  const since = receiver.received.toSorted((a, b) => a.event.eventId - b.event.eventId)[1]?.event.timestamp
  const reply = await post(`${name}/replay`, { since })
  assert.deepEqual([reply.status, reply.json.webhookName], [202, name])
  const expected = receiver.received.filter(({ event }) => event.timestamp >= since).map(({ id }) => id)
  await untilAccepted(receiver, 3 + expected.length)
  assert.deepEqual(new Set(receiver.received.slice(3).map(({ id }) => id)), new Set(expected))
  assert.equal(new Set(ids).size, 3)
})

const refusedReplays: Record<string, unknown> = {
  'no instant': {},
  'an instant that is none': { since: 'yesterday' },
  'a number': { since: 5 },
  'another field': { since: '2026-11-15T09:30:00Z', until: '2026-11-15T09:30:00Z' },
}
for (const [title, body] of Object.entries(refusedReplays)) {
  test(`a replay of all answers J-500 to ${title}`, async (t) => {
    const { name } = await openWebhook(t)
    assertRefused(await post(`${name}/replay`, body), 'J-500')
  })
}

test('the log answers J-500 to a state that there is not, and to a cursor of somebody else', async (t) => {
  const { name } = await openWebhook(t)
  for (const query of ['state=LOST', 'cursor=nonsense', 'limit=0']) {
    assertRefused(await api.call('GET', `${webhooks}/${name}/deliveries?${query}`), 'J-500')
  }
})

test('the log of a webhook that was created again is empty', async (t) => {
  const { name, receiver } = await openWebhook(t)
  await makeEvent()
  await untilDelivered(name, 1)
  await api.call('DELETE', `${webhooks}/${name}`)
  assert.equal((await put(name, { url: receiver.url })).status, 201)
  assert.deepEqual((await deliveriesOf(name)).items, [])
})
