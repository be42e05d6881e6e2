// Devices: create, replace, read, find by tag, give a credential, delete.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
await api.putJobAndDevices('update', [])
const path = (deviceId: string) => `/job/api/devices/${encodeURIComponent(deviceId)}`

test('a device names who has created its token', async () => {
  await api.call('PUT', path('named'))
  await api.call('POST', `${path('named')}/credential`)
  const { keyId, keyName } = (await api.call('GET', '/job/api/keys/self')).json
  const makerOf = ({ credentialCreatedBy, credentialCreatedByName }: Record<string, unknown>) => [
    ...[credentialCreatedBy, credentialCreatedByName],
  ]
  const by = [`key:${keyId}`, keyName]
  assert.deepEqual(makerOf((await api.call('GET', path('named'))).json), by)
  const { json: found } = await api.call('GET', '/job/api/devices?where=deviceId%3Dnamed')
  assert.deepEqual(found.items.map(makerOf), [by])
  const patched = await api.call('PATCH', path('named'), { body: { deviceName: 'Named' } })
  assert.deepEqual(makerOf(patched.json), by)
})

test('PUT answers 201 when it creates, 200 when it replaces, and leaves nothing of what was there', async () => {
  const body = { deviceName: 'North gate', tags: ['gate', 'beta', 'äöü'] }
  const created = await api.call('PUT', path('d1'), { body })
  assert.equal(created.status, 201)
  const { createdAt, updatedAt, ...rest } = created.json
  assert.deepEqual(rest, {
    deviceId: 'd1',
    deviceName: 'North gate',
    tags: ['beta', 'gate', 'äöü'],
    attributes: {},
    reportedAttributes: {},
    timeZone: null,
    window: null,
    credentialCreatedAt: null,
    credentialCreatedBy: null,
    credentialCreatedByName: null,
    certificateRevokedAt: null,
    online: false,
    since: null,
    lastSeenAt: null,
    transport: null,
  })
  assert.equal(createdAt, updatedAt)

  clock.forward(1000)
  const replaced = await api.call('PUT', path('d1'))
  assert.equal(replaced.status, 200)
  assert.deepEqual([replaced.json.deviceName, replaced.json.tags], ['d1', []])
  assert.equal(replaced.json.createdAt, createdAt)
  assert.notEqual(replaced.json.updatedAt, createdAt)
  assert.deepEqual((await api.call('GET', path('d1'))).json, replaced.json)
})

for (const deviceId of ['with a blank', 'urn:dev:mac:0024be', 'ünï©ødé 🚪', '%41', '...', '🚪'.repeat(128)]) {
  test(`a device may have the id ${deviceId}`, async () => {
    assert.equal((await api.call('PUT', path(deviceId))).status, 201)
    assert.equal((await api.call('GET', path(deviceId))).json.deviceId, deviceId)
  })
}

for (const deviceId of ['a/b', 'a+b', '#', 'a?', 'a\u0000', 'a\tb', ' ', 'a'.repeat(129)]) {
  test(`PUT answers J-500 to the id ${JSON.stringify(deviceId).slice(0, 20)}`, async () => {
    assertRefused(await api.call('PUT', path(deviceId)), 'J-500')
  })
}

const refused: Record<string, unknown> = {
  'an unknown field': { name: 'a' },
  'a deviceToken': { deviceToken: 'jd_mine' },
  'an empty deviceName': { deviceName: '' },
  'a deviceName that is null': { deviceName: null },
  'a deviceName of 129 characters': { deviceName: 'a'.repeat(129) },
  'a deviceName with a control character': { deviceName: 'a\u0007' },
  'tags as text': { tags: 'gate' },
  'an empty tag': { tags: [''] },
  'a tag given twice': { tags: ['a', 'a'] },
  '51 tags': { tags: Array.from({ length: 51 }, (_, i) => `t${i}`) },
  'an array': [],
}
for (const [title, body] of Object.entries(refused)) {
  test(`PUT answers J-500 to ${title} and changes nothing`, async () => {
    assertRefused(await api.call('PUT', path('never'), { body }), 'J-500')
    assertRefused(await api.call('GET', path('never')), 'J-001')
  })
}

test('GET, DELETE and the credential answer J-001 for an unknown device', async () => {
  assertRefused(await api.call('GET', path('nobody')), 'J-001')
  assertRefused(await api.call('DELETE', path('nobody')), 'J-001')
  assertRefused(await api.call('POST', `${path('nobody')}/credential`), 'J-001')
})

test('?tag= finds what has the tag now, and nothing that had it', async () => {
  const found = async () =>
    (await api.call('GET', '/job/api/devices?tag=red')).json.items.map(
      (d: { deviceId: string }) => d.deviceId,
    )
  await api.call('PUT', path('r1'), { body: { tags: ['red', 'blue'] } })
  await api.call('PUT', path('r2'), { body: { tags: ['red'] } })
  await api.call('PUT', path('r3'), { body: { tags: ['reddish'] } })
  assert.deepEqual(await found(), ['r1', 'r2'])
  await api.call('PUT', path('r1'), { body: { tags: ['blue'] } })
  await api.call('PUT', path('r3'), { body: { tags: ['red'] } })
  await api.call('DELETE', path('r2'))
  assert.deepEqual(await found(), ['r3'])
})

test('POST credential answers 201 with a token that is shown only once; the next one is another', async () => {
  await api.call('PUT', path('signed'))
  const first = await api.call('POST', `${path('signed')}/credential`)
  assert.equal(first.status, 201)
  assert.deepEqual(Object.keys(first.json), ['deviceId', 'deviceToken'])
  assert.equal(first.json.deviceId, 'signed')
  assert.match(first.json.deviceToken, /^jd_[0-9A-Za-z]{48}$/)
  const second = await api.call('POST', `${path('signed')}/credential`)
  assert.notEqual(second.json.deviceToken, first.json.deviceToken)

  const read = await api.call('GET', path('signed'))
  assert.match(read.json.credentialCreatedAt, /Z$/)
  const shown = read.text + (await api.call('GET', '/job/api/devices?limit=200')).text
  assert.doesNotMatch(shown, /jd_/)
})

test('DELETE answers 204 and cancels what waits for the device, and for no other', async () => {
  await api.putJobAndDevices('update', ['leaving', 'staying'])
  const [leaving, staying] = (await api.trigger('update', ['leaving', 'staying'])).json
  const canceled = (await api.trigger('update', ['leaving'])).json[0]
  await api.call('POST', `/job/api/executions/${canceled.jobExecutionId}/cancel`)
  assert.equal((await api.call('DELETE', path('leaving'))).status, 204)

  const read = async ({ jobExecutionId }: { jobExecutionId: number }) =>
    (await api.call('GET', `/job/api/executions/${jobExecutionId}`)).json
  const left = await read(leaving)
  assert.equal(left.execState, 'CANCELED')
  assert.match(left.finishedAt, /Z$/)
  assert.equal(left.versionNumber, 2)
  assert.equal((await read(staying)).execState, 'PENDING')
  assert.equal((await read(canceled)).versionNumber, 2)
})

test('DELETE ends a wait for the last execution of a run', { timeout: 50_000 }, async () => {
  await api.putJobAndDevices('update', ['awaited'])
  const location = (await api.trigger('update', ['awaited'])).headers.get('location')
  const waiting = api.call('GET', `${location}?wait=60`)
  await api.call('DELETE', path('awaited'))
  assert.equal((await waiting).json.finished, true)
})

test('a device that was deleted answers J-001, and a new one of its id starts afresh', async () => {
  await api.call('PUT', path('again'), { body: { deviceName: 'Old', tags: ['old'] } })
  await api.call('POST', `${path('again')}/credential`)
  const old = (await api.trigger('update', ['again'])).json[0]
  await api.call('DELETE', path('again'))
  assertRefused(await api.call('GET', path('again')), 'J-001')
  assertRefused(await api.call('DELETE', path('again')), 'J-001')
  assertRefused(await api.trigger('update', ['again']), 'J-001')

  const created = await api.call('PUT', path('again'), { body: { deviceName: 'New' } })
  assert.equal(created.status, 201)
  assert.deepEqual([created.json.tags, created.json.credentialCreatedAt], [[], null])
  assert.equal((await api.trigger('update', ['again'])).json[0].deviceName, 'New')
  const kept = (await api.call('GET', `/job/api/executions/${old.jobExecutionId}`)).json
  assert.deepEqual([kept.deviceName, kept.execState], ['Old', 'CANCELED'])
})
