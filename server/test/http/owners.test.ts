// Owners, and how far a key reaches beyond its own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const other = await api.newOwner('other')
const own = (await api.newKey(['MANAGE', 'READ'])).apiKey
const admin = (await api.newKey(['ADMIN'])).apiKey
const keys = '/job/api/keys'

type Key = { keyId: string; ownerId: string }

test('POST answers 201 with ownerId, ownerName and createdAt', async () => {
  const reply = await api.call('POST', '/job/api/owners', { body: { ownerName: 'Zoë & sons' } })
  assert.equal(reply.status, 201)
  assert.deepEqual(Object.keys(reply.json), ['ownerId', 'ownerName', 'createdAt'])
  assert.match(reply.json.ownerId, /^ow_[0-9A-Za-z]{12}$/)
  assert.equal(reply.json.ownerName, 'Zoë & sons')
  const { items } = (await api.call('GET', '/job/api/owners?limit=200')).json
  assert.deepEqual(items.at(-1), reply.json)
})

test('POST answers J-807 to a name that is taken', async () => {
  assertRefused(await api.call('POST', '/job/api/owners', { body: { ownerName: 'other' } }), 'J-807')
})

for (const body of [{}, { ownerName: '' }, { ownerName: 7 }, { ownerName: 'a', ownerId: 'ow_a' }, []]) {
  test(`POST answers J-500 to ${JSON.stringify(body)}`, async () => {
    assertRefused(await api.call('POST', '/job/api/owners', { body }), 'J-500')
  })
}

test('a key made by ADMIN for another owner acts for that owner', async () => {
  const { apiKey, ownerId } = await api.newKey(['MANAGE', 'READ'], { ownerId: other.ownerId })
  assert.equal(ownerId, other.ownerId)
  await api.call('PUT', '/job/api/jobs/theirs', { key: apiKey })
  assert.equal((await api.call('GET', '/job/api/jobs/theirs', { key: other.key })).status, 200)
  assertRefused(await api.call('GET', '/job/api/jobs/theirs'), 'J-301')
})

test('ADMIN lists the keys of any owner, and each owner sees only its own', async () => {
  const listed = async (key: string, query = '') =>
    (await api.call('GET', `${keys}?limit=200${query}`, { key })).json.items as Key[]
  const ofOther = await listed(admin, `&ownerId=${other.ownerId}`)
  assert.ok(ofOther.length > 0)
  assert.ok(ofOther.every((key) => key.ownerId === other.ownerId))
  assert.deepEqual(
    (await listed(other.key)).map((key) => key.keyId),
    ofOther.map((key) => key.keyId),
  )
  assert.ok((await listed(admin)).every((key) => key.ownerId !== other.ownerId))
})

test('without ADMIN another owner is out of reach, known or not: J-804 names ADMIN', async () => {
  for (const ownerId of [other.ownerId, 'ow_nobody']) {
    const body = { keyName: 'spy', scopes: [], ownerId }
    assertRefused(await api.call('POST', keys, { key: own, body }), 'J-804', 'ADMIN')
    assertRefused(await api.call('GET', `${keys}?ownerId=${ownerId}`, { key: own }), 'J-804', 'ADMIN')
  }
})

test('without ADMIN the own ownerId may be given', async () => {
  const [{ ownerId }] = (await api.call('GET', keys, { key: own })).json.items
  assert.equal((await api.call('GET', `${keys}?ownerId=${ownerId}`, { key: own })).status, 200)
  const body = { keyName: 'mine', ownerId }
  assert.equal((await api.call('POST', keys, { key: own, body })).status, 201)
})

test('with ADMIN an unknown owner is J-806', async () => {
  const body = { keyName: 'a', scopes: ['ADMIN'], ownerId: 'ow_nobody' }
  assertRefused(await api.call('POST', keys, { key: admin, body }), 'J-806')
  assertRefused(await api.call('GET', `${keys}?ownerId=ow_nobody`, { key: admin }), 'J-806')
})

test("without ADMIN another owner's key is J-805 and remains valid; with ADMIN it is revoked", async () => {
  const { keyId, apiKey } = await api.newKey(['READ'], { ownerId: other.ownerId })
  assertRefused(await api.call('DELETE', `${keys}/${keyId}`, { key: own }), 'J-805')
  assert.equal((await api.call('GET', '/job/api/jobs', { key: apiKey })).status, 200)
  assert.equal((await api.call('DELETE', `${keys}/${keyId}`, { key: admin })).status, 204)
  assertRefused(await api.call('GET', '/job/api/jobs', { key: apiKey }), 'J-802')
})
