// Idempotency-Key on the trigger: the first response is repeated byte by byte, and nothing is created.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const day = 24 * 60 * 60 * 1000
const clock = buildClock()
/** Set forward by a test. */
let passed = 0
const api = await openSharedServer({ now: clock.now, elapsed: () => performance.now() + passed })
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'])
const other = await api.newOwner('other')
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'], other.key)

const trigger = (idempotencyKey: string, deviceIds = ['d1', 'd2'], key = api.adminKey) =>
  api.trigger('update', deviceIds, { key, headers: { 'idempotency-key': idempotencyKey } })
const total = async () => (await api.call('GET', '/job/api/executions?limit=200')).json.items.length

function assertSame(again: Reply, first: Reply): void {
  assert.equal(first.status, 201)
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('location'), first.headers.get('location'))
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
}

test('the same key and body return the same response and Location, and create nothing', async () => {
  const first = await trigger('same')
  const before = await total()
  for (let i = 0; i < 3; i++) assertSame(await trigger('same'), first)
  assert.equal(await total(), before)
})

test('the response is the same after a device was renamed, an execution ended and an hour passed', async () => {
  await api.call('PUT', '/job/api/devices/d1', { body: { deviceName: 'Before' } })
  const first = await trigger('renamed')
  await api.call('PUT', '/job/api/devices/d1', { body: { deviceName: 'After' } })
  await api.call('POST', `/job/api/executions/${first.json[0].jobExecutionId}/cancel`)
  clock.forward(day / 24)
  assertSame(await trigger('renamed'), first)
  assert.equal(first.json[0].deviceName, 'Before')
})

test('the response is the same after the job was changed', async () => {
  const first = await trigger('changed')
  await api.call('PUT', '/job/api/jobs/update', { body: { document: { version: 2 } } })
  assertSame(await trigger('changed'), first)
})

test('the response is the same after job and device were deleted', async () => {
  await api.putJobAndDevices('passing', ['passing'])
  const headers = { 'idempotency-key': 'deleted' }
  const first = await api.trigger('passing', ['passing'], { headers })
  await api.call('DELETE', '/job/api/devices/passing')
  await api.call('DELETE', '/job/api/jobs/passing?force=true')
  assertSame(await api.trigger('passing', ['passing'], { headers }), first)
})

test('white space, the order of fields and unknown fields do not change the body', async () => {
  const first = await trigger('spelled', ['d1'])
  const again = await api.call('POST', '/job/api/jobs/execute', {
    rawBody: ' { "deviceIds" : ["d1"], "note": 1, "jobName": "update" } ',
    headers: { 'idempotency-key': 'spelled' },
  })
  assertSame(again, first)
})

test('another body is J-501 and creates nothing, and the first response remains', async () => {
  const first = await trigger('reused', ['d1', 'd2'])
  const before = await total()
  assertRefused(await trigger('reused', ['d1']), 'J-501')
  assertRefused(await trigger('reused', ['d2', 'd1']), 'J-501')
  assert.equal(await total(), before)
  assertSame(await trigger('reused', ['d1', 'd2']), first)
})

test('a refused call does not use the key up', async () => {
  assertRefused(await trigger('mended', ['nobody']), 'J-001')
  assertRefused(await trigger('mended', []), 'J-500')
  assert.equal((await trigger('mended', ['d3'])).status, 201)
})

test('fifty equal calls at once create one run: each gets the same response or J-502', async () => {
  const before = await total()
  const replies = await Promise.all(Array.from({ length: 50 }, () => trigger('twins')))
  const made = replies.filter((reply) => reply.status === 201)
  const first = made[0] as Reply
  for (const reply of made) assert.equal(reply.text, first.text)
  const replayed = made.filter((reply) => reply.headers.get('idempotency-replayed') === 'true')
  assert.equal(replayed.length, made.length - 1)
  for (const reply of replies.filter((one) => one.status !== 201)) {
    assertRefused(reply, 'J-502')
    assert.equal(reply.headers.get('retry-after'), '1')
  }
  assert.equal(await total(), before + 2)
  assert.equal((await trigger('twins')).text, first.text)
})

test('two keys of one owner share an Idempotency-Key, two owners do not', async () => {
  const first = await trigger('shared', ['d1'])
  const { apiKey } = await api.newKey(['TRIGGER'])
  assertSame(await trigger('shared', ['d1'], apiKey), first)
  const theirs = await trigger('shared', ['d1'], other.key)
  assert.equal(theirs.status, 201)
  assert.notEqual(theirs.headers.get('location'), first.headers.get('location'))
  assert.equal((await trigger('shared', ['d2'], other.key)).json.code, 'J-501')
})

test('it expires after 24 hours of elapsed time, not when the clock is set', async () => {
  const first = await trigger('daily', ['d1'])
  clock.forward(2 * day)
  assertSame(await trigger('daily', ['d1']), first)
  // Some time passes by itself.
  passed += day - 60 * 60_000
  assertSame(await trigger('daily', ['d1']), first)
  passed += 60 * 60_000
  const next = await trigger('daily', ['d1'])
  assert.equal(next.status, 201)
  assert.notEqual(next.headers.get('location'), first.headers.get('location'))
  assertSame(await trigger('daily', ['d1']), next)
})

for (const bad of ['', 'with a blank', 'ümlaut', 'a'.repeat(256), 'one, two']) {
  test(`the Idempotency-Key "${bad.slice(0, 20)}" is J-500`, async () => {
    assertRefused(await trigger(bad), 'J-500')
  })
}

test('a key of 255 characters is valid, and keys are case-sensitive', async () => {
  assert.equal((await trigger('a'.repeat(255), ['d1'])).status, 201)
  assert.equal((await trigger('A'.repeat(255), ['d2'])).status, 201)
})

test('without the header every call makes its own', async () => {
  const [one, two] = [await api.trigger('update', ['d1']), await api.trigger('update', ['d1'])]
  assert.notEqual(one.text, two.text)
})
