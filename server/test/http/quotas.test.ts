// Requests beyond a quota are refused with 409 J-912, which names the quota, its value and a solution; released quota is available
// at once, and requests that need none are served.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { noQuotas, type Quotas } from '../../src/domain/access/quotas.ts'

function assertOver(reply: Reply, message: string): void {
  assert.deepEqual(reply.json, { code: 'J-912', message: `Quota exceeded: ${message}`, status: 409 })
  assert.equal(reply.status, 409)
}

function open(t: TestContext, quotas: Partial<Quotas>) {
  return openServer(t, { quotas: { ...noQuotas, ...quotas }, webhookAllow: ['127.0.0.1'] })
}

test('devices: new ones are refused, those there can be changed, and a deleted one makes room', async (t) => {
  const api = await open(t, { devices: 2 })
  const put = (id: string, body: object = {}) => api.call('PUT', `/job/api/devices/${id}`, { body })
  assert.deepEqual([(await put('a')).status, (await put('b')).status], [201, 201])
  assertOver(
    await put('c'),
    'at most 2 devices of one owner (quota devices); delete devices that are no longer used',
  )
  assert.equal((await put('a', { deviceName: 'other' })).status, 200)
  const enrollment = (await api.call('POST', '/job/api/enrollments', { body: {} })).json
  const enroll = () =>
    fetch(`${api.http}/things/e/enroll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${enrollment.enrollmentToken}`, 'content-type': 'application/json' },
      body: '{}',
    })
  const refused = await enroll()
  assert.equal(refused.status, 409)
  assert.match(await refused.text(), /quota devices/)
  await api.call('DELETE', '/job/api/devices/b')
  assert.equal((await enroll()).status, 201)
  const { key } = await api.newOwner('other')
  assert.equal((await api.call('PUT', '/job/api/devices/c', { key, body: {} })).status, 201)
})

test('many at once do not get past a quota', async (t) => {
  const api = await open(t, { devices: 5, keys: 4 })
  const puts = await Promise.all(
    Array.from({ length: 20 }, (_, index) => api.call('PUT', `/job/api/devices/d${index}`, { body: {} })),
  )
  assert.equal(puts.filter(({ status }) => status === 201).length, 5)
  assert.equal((await api.call('GET', '/job/api/devices')).json.items.length, 5)
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => api.call('POST', '/job/api/keys', { body: { keyName: 'k' } })),
  )
  assert.equal(keys.filter(({ status }) => status === 201).length, 3)
})

test('groups with a window', async (t) => {
  const api = await open(t, { 'window-groups': 1 })
  const window = { cron: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' }
  await api.call('PUT', '/job/api/windows/nights', { body: window })
  const group = (name: string, more: object = {}) =>
    api.call('PUT', `/job/api/groups/${name}`, { body: { where: 'all', ...more } })
  assert.equal((await group('one', { window: 'nights' })).status, 201)
  assertOver(
    await group('two', { window: 'nights' }),
    'at most 1 groups of one owner that have a window (quota window-groups); combine groups, or set the window of the devices themselves',
  )
  assert.equal((await group('two')).status, 201)
})

test('jobs, keys, enrollments, webhooks and sessions', async (t) => {
  const api = await open(t, {
    jobs: 1,
    keys: 2,
    enrollments: 1,
    webhooks: 1,
    'key-sessions': 2,
  })
  const receiver = await WebhookReceiver.open(t)
  const job = (name: string, description: string) =>
    api.call('PUT', `/job/api/jobs/${name}`, { body: { description } })
  assert.equal((await job('one', '')).status, 201)
  assertOver(
    await job('two', ''),
    'at most 1 jobs of one owner (quota jobs); delete jobs that are no longer used',
  )
  assert.equal((await job('one', 'changed')).status, 200)

  const key = () => api.call('POST', '/job/api/keys', { body: { keyName: 'k' } })
  const { keyId } = (await key()).json
  assertOver(
    await key(),
    'at most 2 active API keys of one owner (quota keys); revoke keys that are no longer used',
  )
  await api.call('DELETE', `/job/api/keys/${keyId}`)
  assert.equal((await key()).status, 201)

  const enrollment = () => api.call('POST', '/job/api/enrollments', { body: {} })
  const { enrollmentId } = (await enrollment()).json
  assert.equal((await enrollment()).json.code, 'J-912')
  await api.call('DELETE', `/job/api/enrollments/${enrollmentId}`)
  assert.equal((await enrollment()).status, 201)

  const webhook = (name: string) =>
    api.call('PUT', `/job/api/webhooks/${name}`, { body: { url: receiver.url } })
  assert.equal((await webhook('w')).status, 201)
  assertOver(
    await webhook('x'),
    'at most 1 webhooks of one owner (quota webhooks); delete webhooks that are no longer used',
  )
  assert.equal((await webhook('w')).status, 200)

  const signIn = () => api.call('POST', '/job/api/session', { body: { apiKey: api.adminKey } })
  const session = await signIn()
  assert.equal((await api.call('POST', '/job/api/session/tickets')).status, 201)
  assertOver(
    await signIn(),
    'at most 2 sessions and tickets of one API key (quota key-sessions); sign out, or wait until some have expired',
  )
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  await api.call('DELETE', '/job/api/session', { headers: { cookie } })
  assert.equal((await signIn()).status, 201)
})

test('unfinished executions of an owner and of a device; what was made before is answered, what is unknown refused', async (t) => {
  const api = await open(t, { executions: 4, 'device-executions': 2 })
  await api.putJobAndDevices('restart', ['a', 'b', 'c'])
  const device = await newDevice(api, 'a')
  const headers = { 'idempotency-key': 'one' }
  const first = await api.trigger('restart', ['a', 'b'], { headers })
  assert.equal(first.status, 201)
  assert.equal((await api.trigger('restart', ['a'])).status, 201)
  const ofDevice = 'at most 2 unfinished executions of one device (quota device-executions)'
  const full = await api.trigger('restart', ['a'])
  assertOver(full, `${ofDevice}; wait until some have ended, or cancel them`)
  const problem = { headers: { accept: 'application/problem+json' } }
  assert.deepEqual((await api.trigger('restart', ['a'], problem)).json.deviceIds, ['a'])
  assert.equal((await api.trigger('restart', ['c'])).status, 201)
  const ofOwner = 'at most 4 unfinished executions of one owner (quota executions)'
  assertOver(await api.trigger('restart', ['b']), `${ofOwner}; wait until some have ended, or cancel them`)
  assert.equal((await api.trigger('restart', ['nobody'])).json.code, 'J-001')
  assert.equal((await api.trigger('nothing', ['a'])).json.code, 'J-301')
  const again = await api.trigger('restart', ['a', 'b'], { headers })
  assert.deepEqual([again.status, again.text], [201, first.text])
  const { jobId } = (await device.startNext()).json.execution
  await device.update(Number(jobId), 'SUCCEEDED')
  assert.equal((await api.trigger('restart', ['b'])).status, 201)
  const { key } = await api.newOwner('other')
  await api.putJobAndDevices('restart', ['a'], key)
  assert.equal((await api.trigger('restart', ['a'], { key })).status, 201)
})

test('streams of a key and of an owner; one that is closed makes room', async (t) => {
  const api = await open(t, { 'key-streams': 2, streams: 3 })
  const other = await api.newKey(['READ'])
  const follow = async (key: string) => {
    const abort = new AbortController()
    t.after(() => abort.abort())
    const headers = { 'x-api-key': key }
    const response = await fetch(`${api.http}/job/api/events`, { headers, signal: abort.signal })
    return { response, close: () => abort.abort() }
  }
  const first = await follow(api.adminKey)
  await follow(api.adminKey)
  const third = await follow(api.adminKey)
  assert.equal(third.response.status, 409)
  assert.match(await third.response.text(), /at most 2 streams of one API key \(quota key-streams\)/)
  assert.equal((await follow(other.apiKey)).response.status, 200)
  assert.match(await (await follow(other.apiKey)).response.text(), /at most 3 streams of one owner/)
  first.close()
  await waitUntil('there is room for the next one', async () => {
    const { response } = await follow(api.adminKey)
    if (response.status !== 200) await response.text()
    return response.status === 200
  })
})
