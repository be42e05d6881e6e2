// Webhooks of restricted keys: whose they are, what they send, and what happens when devices move out of the restriction.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { assertRefused, errorText } from './assert-reply.ts'

const api = await openSharedServer({ webhookAllow: ['127.0.0.1'] })
const webhooks = '/job/api/webhooks'
const scopes = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT'] as const
const body = { url: 'http://127.0.0.1:9/hook' }
const putDevice = (deviceId: string, more: object) =>
  api.call('PUT', `/job/api/devices/${deviceId}`, { body: { deviceName: deviceId, ...more } })

await api.putJobAndDevices('our-job', [])
await api.putJobAndDevices('hidden-job', [])
await putDevice('ours-1', { tags: ['ours'] })
await putDevice('hidden-1', { tags: ['CANARY'] })
const { apiKey: ofJobs } = await api.newKey([...scopes], { jobs: ['our-*'] })
const { apiKey: ofDevices } = await api.newKey([...scopes], { where: 'tag=ours' })

const call = (key: string, method: string, name: string, more = {}) =>
  api.call(method, `${webhooks}/${name}`, { key, ...more })
const put = (key: string, name: string, more = {}) => call(key, 'PUT', name, { body: { ...body, ...more } })
const namesOf = async (key?: string) =>
  (await api.call('GET', `${webhooks}?limit=200`, key ? { key } : {})).json.items.map(
    ({ webhookName }: { webhookName: string }) => webhookName,
  )

/** A receiver, and a webhook that the key has put for it. */
async function openWebhook(t: TestContext, key: string, name: string, content: object = {}) {
  const receiver = await WebhookReceiver.open(t)
  const { status, text } = await put(key, name, { url: receiver.url, ...content })
  assert.equal(status, 201, text)
  t.after(() => call(key, 'DELETE', name))
  const last = async (is: (event: { type: string; data: Record<string, unknown> }) => boolean) => {
    await receiver.until('the last event', () => receiver.received.some(({ event }) => is(event)))
    return receiver.received.map(({ event }) => event)
  }
  return { receiver, last }
}

test('a restricted key has its own names, with which it never learns of the others', async () => {
  assert.equal((await put(api.adminKey, 'CANARY')).status, 201)
  for (const key of [ofJobs, ofDevices]) {
    const created = await put(key, 'CANARY')
    assert.equal(created.status, 201)
    assert.equal(created.json.webhookName, 'CANARY')
    assert.equal((await put(key, 'CANARY')).status, 200)
    assert.deepEqual(await namesOf(key), ['CANARY'])
  }
  const all = await namesOf()
  assert.equal(all.filter((name: string) => /^CANARY(@[0-9a-f]{16})?$/.test(name)).length, 3)
  const [first, second] = all.filter((name: string) => name.includes('@'))
  const bounds = await Promise.all(
    [first, second].map(async (name) => (await call(api.adminKey, 'GET', name)).json),
  )
  assert.deepEqual(
    new Set(bounds.map(({ jobs, where }) => JSON.stringify([jobs, where]))),
    new Set(['[["our-*"],null]', '[null,"tag=ours"]']),
  )
  for (const key of [ofJobs, ofDevices]) {
    const seen = await Promise.all([first, second].map(async (name) => (await call(key, 'GET', name)).status))
    assert.deepEqual(seen.toSorted(), [200, 404])
    assert.equal((await call(key, 'DELETE', 'CANARY')).status, 204)
  }
  assert.equal((await call(api.adminKey, 'DELETE', 'CANARY')).status, 204)
})

test('a webhook keeps its restriction, whoever changes it, and only its own keys create its name', async () => {
  await put(ofJobs, 'kept')
  const name = (await namesOf()).find((each: string) => each.startsWith('kept@'))
  const changed = await put(api.adminKey, name, { eventTypes: ['run.*'] })
  assert.deepEqual([changed.status, changed.json.jobs, changed.json.webhookName], [200, ['our-*'], name])
  assert.deepEqual((await call(ofJobs, 'GET', 'kept')).json.eventTypes, ['run.*'])
  assert.equal((await call(api.adminKey, 'DELETE', name)).status, 204)
  assertRefused(await put(api.adminKey, name), 'J-307')
  assertRefused(await put(ofDevices, name), 'J-307')
  assert.equal((await put(ofJobs, name)).status, 201)
  assert.equal((await call(ofJobs, 'DELETE', 'kept')).status, 204)
  assert.equal((await put(ofJobs, 'n'.repeat(111))).status, 201)
  assert.equal((await call(ofJobs, 'DELETE', 'n'.repeat(111))).status, 204)
  assert.equal((await put(ofJobs, 'n'.repeat(112))).json.code, 'J-500')
  for (const type of ['key.*', 'webhook.created', 'secret.changed', 'audit.sealed'])
    assertRefused(await put(ofJobs, 'kept', { eventTypes: [type] }), 'J-814')
  assertRefused(await put(ofDevices, 'kept', { eventTypes: ['schedule.fired'] }), 'J-814')
})

test('a key sees the webhooks of keys with the same restriction, and of narrower ones, but not of wider ones', async () => {
  const newKey = async (more: object, key = api.adminKey) => {
    const { json } = await api.call('POST', '/job/api/keys', { key, body: { keyName: 'k', scopes, ...more } })
    return json.apiKey as string
  }
  const same = await newKey({ jobs: ['our-*'], addresses: ['127.0.0.0/8'] })
  const narrower = await newKey({ jobs: ['our-job'] }, ofJobs)
  const both = await newKey({ jobs: ['our-*'], where: 'tag=ours' })
  const child = await newKey({ where: 'tag=more' }, ofDevices)
  await put(ofJobs, 'a')
  await put(narrower, 'b')
  await put(both, 'c')
  await put(child, 'd')
  const shown = async (key: string) => (await namesOf(key)).map((name: string) => name.replace(/@.*/, '@'))
  assert.deepEqual(await shown(ofJobs), ['a', 'b@', 'c@'])
  assert.deepEqual(await shown(same), ['a', 'b@', 'c@'])
  assert.deepEqual(await shown(narrower), ['b'])
  assert.deepEqual(await shown(both), ['c'])
  assert.deepEqual(await shown(ofDevices), ['c@', 'd@'])
  assert.deepEqual(await shown(child), ['d'])
  const [, ofNarrower] = await namesOf(ofJobs)
  assert.equal((await call(ofJobs, 'POST', `${ofNarrower}/pause`)).json.webhookName, ofNarrower)
  assert.equal((await put(ofJobs, ofNarrower)).status, 200)
  const pages: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await api.call('GET', `${webhooks}?limit=1${cursor}`, { key: ofJobs })
    pages.push(...json.items.map(({ webhookName }: { webhookName: string }) => webhookName))
    if (!json.nextCursor) break
    cursor = `&cursor=${json.nextCursor}`
  }
  assert.deepEqual(pages, await namesOf(ofJobs))
  for (const [key, name] of [
    [ofJobs, 'a'],
    [narrower, 'b'],
    [both, 'c'],
    [child, 'd'],
  ] as const)
    assert.equal((await call(key, 'DELETE', name)).status, 204)
  assert.deepEqual(await namesOf(ofJobs), [])
})

test('a webhook of a key with jobs sends events of these jobs only, also of what it names itself', async (t) => {
  const { receiver, last } = await openWebhook(t, ofJobs, 'of-jobs')
  const named = await openWebhook(t, ofJobs, 'of-hidden', { jobName: 'hidden-job' })
  await api.trigger('hidden-job', ['ours-1'])
  await api.newKey(['READ'], { keyName: 'CANARY' })
  const run = await api.trigger('our-job', ['ours-1'])
  const { jobExecutionId } = run.json[0]
  const events = await last(({ data }) => data.jobName === 'our-job')
  assert.doesNotMatch(JSON.stringify(events), /hidden-job|CANARY|key:/)
  // By now the other one has read as far: its log would have the event.
  await call(ofJobs, 'POST', 'of-hidden/replay', { body: { since: '2026-01-01T00:00:00Z' } })
  assert.deepEqual(named.receiver.received, [])
  const { items } = (await api.call('GET', `${webhooks}/of-jobs/deliveries`, { key: ofJobs })).json
  assert.ok(items.length > 0)
  for (const { event } of receiver.received) assert.ok(event.type)
  await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { body: {} })
})

test('a webhook of a key with where sends events of its devices, and the counts of these', async (t) => {
  for (const format of ['jobcast', 'cloudevents']) {
    const { last } = await openWebhook(t, ofDevices, `of-devices-${format}`, { format })
    await api.call('PATCH', '/job/api/devices/hidden-1', { body: { deviceName: 'CANARY' } })
    await api.trigger('our-job', ['hidden-1'])
    const run = await api.trigger('our-job', ['ours-1', 'hidden-1'])
    for (const { jobExecutionId } of run.json)
      await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { body: {} })
    const events = await last(({ type }) => type.endsWith('run.finished'))
    assert.doesNotMatch(JSON.stringify(events), /hidden|CANARY/)
    const { data } = events.find(({ type }) => type.endsWith('run.finished')) ?? {}
    assert.deepEqual([data.total, data.counts.CANCELED], [1, 1])
  }
})

test('a message for a chat has nothing of other devices', async (t) => {
  const { receiver } = await openWebhook(t, ofDevices, 'chat', { format: 'slack' })
  const run = await api.trigger('our-job', ['ours-1', 'hidden-1'])
  for (const { jobExecutionId } of run.json)
    await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { body: {} })
  await receiver.until('the message', () => receiver.received.length > 0)
  assert.equal(
    receiver.received[0]?.event.text,
    'our-job version 1 finished: 0 of 1 device succeeded, 1 canceled.',
  )
})

test('a device that has left the restriction is not sent again, and cannot be replayed', async (t) => {
  await putDevice('moving', { tags: ['ours'] })
  const { receiver } = await openWebhook(t, ofDevices, 'moving', { eventTypes: ['device.*'] })
  receiver.answer = () => 500
  await api.call('PATCH', '/job/api/devices/moving', { body: { deviceName: 'before' } })
  await receiver.until('the first attempt', () => receiver.received.length > 0)
  const deliveries = async () =>
    (await api.call('GET', `${webhooks}/moving/deliveries`, { key: ofDevices })).json.items
  await waitUntil('the attempt is in the log', async () => (await deliveries()).length > 0)
  await putDevice('moving', { tags: [] })
  await call(ofDevices, 'POST', 'moving/resume')
  await waitUntil('it has ended', async () =>
    (await deliveries()).every(({ state }: { state: string }) => state !== 'PENDING'),
  )
  const ended = (await deliveries()).at(-1)
  assert.equal(ended.state, 'FAILED')
  assert.match(ended.attempts.at(-1).error, /no longer within the restriction/)
  const replay = (eventId: number) => call(ofDevices, 'POST', `moving/deliveries/${eventId}/replay`)
  const refused = await replay(ended.eventId)
  assert.deepEqual([refused.status, refused.text], [404, (await replay(987654321)).text])
  await putDevice('moving', { tags: ['ours'] })
  receiver.answer = () => 204
  assert.equal((await replay(ended.eventId)).status, 202)
  await receiver.until('the replay', () => receiver.accepted.some(({ id }) => id === `evt_${ended.eventId}`))
})

test('the audit says what a webhook is restricted to, and a revoked key leaves its webhooks as they are', async (t) => {
  const { apiKey, keyId } = await api.newKey([...scopes], { jobs: ['left-*'] })
  const receiver = await WebhookReceiver.open(t)
  await put(apiKey, 'left', { url: receiver.url })
  const { json } = await api.call('GET', '/job/api/audit?action=webhook.created&limit=1')
  assert.deepEqual(json.items[0].after.jobs, ['left-*'])
  await api.call('DELETE', `/job/api/keys/${keyId}?descendants=true`)
  assert.equal((await call(apiKey, 'GET', 'left')).text, errorText('J-802'))
  await api.putJobAndDevices('left-job', [])
  await api.trigger('left-job', ['ours-1'])
  await receiver.until('an event', () =>
    receiver.received.some(({ event }) => event.data.jobName === 'left-job'),
  )
  const name = (await namesOf()).find((each: string) => each.startsWith('left@'))
  assert.equal((await call(api.adminKey, 'DELETE', name)).status, 204)
})
