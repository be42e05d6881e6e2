// Enrollments as their owner sees them: making, listing, revoking. Devices use them in gateway/http/enroll.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const enrollments = '/job/api/enrollments'
const create = (body?: object) => api.call('POST', enrollments, { body })
const tagsUpTo = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`)
const instantIn = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

async function listed(enrollmentId: string) {
  const { items } = (await api.call('GET', `${enrollments}?limit=200`)).json
  return items.find((each: { enrollmentId: string }) => each.enrollmentId === enrollmentId)
}

test('POST answers 201 with the token, which has a prefix and 48 characters, and is shown only once', async () => {
  const body = { name: 'kiosks', maxUses: 3, expiresInSeconds: 60, tags: ['b', 'a'], deviceIdPrefix: 'k-' }
  const reply = await create(body)
  assert.equal(reply.status, 201)
  const { enrollmentToken, ...rest } = reply.json
  const { keyId, keyName } = (await api.call('GET', '/job/api/keys/self')).json
  assert.match(enrollmentToken, /^je_[0-9A-Za-z]{48}$/)
  assert.equal(enrollmentToken.slice(3, 13), rest.enrollmentId)
  assert.deepEqual(rest, {
    enrollmentId: rest.enrollmentId,
    name: 'kiosks',
    maxUses: 3,
    used: 0,
    tags: ['a', 'b'],
    deviceIdPrefix: 'k-',
    expiresAt: instantIn(60),
    createdAt: instantIn(0),
    revokedAt: null,
    createdBy: `key:${keyId}`,
    createdByName: keyName,
    createdBySession: null,
  })
  assert.deepEqual(await listed(rest.enrollmentId), rest)
  const { text } = await api.call('GET', `${enrollments}?limit=200`)
  assert.ok(!text.includes(enrollmentToken.slice(13)))
})

test('without a body it is for one device within a day', async () => {
  for (const body of [undefined, {}]) {
    const { json, status } = await create(body)
    assert.equal(status, 201)
    assert.deepEqual(
      [json.name, json.maxUses, json.tags, json.deviceIdPrefix, json.expiresAt],
      [null, 1, [], null, instantIn(86_400)],
    )
  }
})

test('the limits themselves are good', async () => {
  for (const body of [
    { maxUses: 1, expiresInSeconds: 60 },
    { maxUses: 100_000, expiresInSeconds: 31_536_000 },
    { name: 'ü'.repeat(128), deviceIdPrefix: '.'.repeat(128), tags: tagsUpTo(50) },
  ]) {
    assert.equal((await create(body)).status, 201)
  }
})

const refusedBodies: Record<string, object> = {
  'no uses': { maxUses: 0 },
  'too many uses': { maxUses: 100_001 },
  'half a use': { maxUses: 1.5 },
  'uses as text': { maxUses: '2' },
  'less than a minute': { expiresInSeconds: 59 },
  'more than a year': { expiresInSeconds: 31_536_001 },
  'an instant of its own': { expiresAt: '2126-11-15T09:30:00Z' },
  'an empty name': { name: '' },
  'a tag given twice': { tags: ['a', 'a'] },
  'an empty tag': { tags: [''] },
  'too many tags': { tags: tagsUpTo(51) },
  'an empty prefix': { deviceIdPrefix: '' },
  'a prefix that no deviceId has': { deviceIdPrefix: 'a/b' },
  'a prefix that is too long': { deviceIdPrefix: 'a'.repeat(129) },
  'uses counted already': { used: -5 },
  'an owner of its own': { ownerId: 'ow_0123456789ab' },
}
for (const [title, body] of Object.entries(refusedBodies)) {
  test(`POST answers J-500 to ${title}`, async () => {
    assertRefused(await create(body), 'J-500')
  })
}

test('DELETE answers 204, again too, and keeps the instant of the first', async () => {
  const { enrollmentId } = (await create()).json
  const revoke = () => api.call('DELETE', `${enrollments}/${enrollmentId}`)
  const first = await revoke()
  assert.deepEqual([first.status, first.text], [204, ''])
  const { revokedAt } = await listed(enrollmentId)
  assert.equal(revokedAt, instantIn(0))
  clock.forward(1000)
  assert.equal((await revoke()).status, 204)
  assert.equal((await listed(enrollmentId)).revokedAt, revokedAt)
})

test("DELETE answers J-002 for an unknown enrollment and for another owner's, which continues", async () => {
  const { enrollmentId } = (await create()).json
  const { key } = await api.newOwner('another')
  assertRefused(await api.call('DELETE', `${enrollments}/0000000000`), 'J-002')
  assertRefused(await api.call('DELETE', `${enrollments}/${enrollmentId}`, { key }), 'J-002')
  assert.equal((await listed(enrollmentId)).revokedAt, null)
})

test('the token of an enrollment opens nothing under /job/api: J-802', async () => {
  const { enrollmentToken } = (await create()).json
  assertRefused(await api.call('GET', '/job/api/devices', { key: enrollmentToken }), 'J-802')
})
