// API keys: making, listing, revoking, expiring.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const hour = 60 * 60 * 1000
const keys = '/job/api/keys'
const inAnHour = () => new Date(clock.now() + hour).toISOString()

test('POST answers 201 with the key, which has a prefix and 48 characters, and is shown only once', async () => {
  const expiresAt = inAnHour()
  const reply = await api.call('POST', keys, { body: { keyName: 'mine', scopes: ['READ'], expiresAt } })
  assert.equal(reply.status, 201)
  const { apiKey, ...rest } = reply.json
  assert.match(apiKey, /^jc_[0-9A-Za-z]{48}$/)
  assert.equal(apiKey.slice(3, 13), rest.keyId)
  const listed = await api.call('GET', `${keys}?limit=200`)
  assert.deepEqual(
    listed.json.items.find((key: { keyId: string }) => key.keyId === rest.keyId),
    rest,
  )
  assert.deepEqual(Object.keys(rest), [
    'keyId',
    'keyName',
    'ownerId',
    'scopes',
    'jobs',
    'where',
    'addresses',
    'expiresAt',
    'createdAt',
    'revokedAt',
    'lastUsedAt',
    'createdBy',
    'createdByName',
    'createdBySession',
  ])
  assert.equal(rest.expiresAt, expiresAt)
  assert.ok(!listed.text.includes(apiKey) && !listed.text.includes(apiKey.slice(13)))
})

test('a key without scopes is valid but may do nothing: J-804', async () => {
  const reply = await api.call('POST', keys, { body: { keyName: 'none' } })
  assert.deepEqual(reply.json.scopes, [])
  assertRefused(await api.call('GET', '/job/api/jobs', { key: reply.json.apiKey }), 'J-804', 'READ')
})

test('a key grants only scopes it holds: J-804 names the one it lacks', async () => {
  const { apiKey } = await api.newKey(['MANAGE', 'READ'])
  const grant = (scopes: string[]) =>
    api.call('POST', keys, { key: apiKey, body: { keyName: 'granted', scopes } })
  assert.equal((await grant(['READ', 'MANAGE'])).status, 201)
  assertRefused(await grant(['READ', 'TRIGGER']), 'J-804', 'TRIGGER')
  assertRefused(await grant(['ADMIN']), 'J-804', 'ADMIN')
})

test('DELETE answers 204, and the key is refused from the next request on: J-802', async () => {
  const { keyId, apiKey } = await api.newKey(['READ'])
  assert.equal((await api.call('GET', '/job/api/jobs', { key: apiKey })).status, 200)
  const reply = await api.call('DELETE', `${keys}/${keyId}`)
  assert.equal(reply.status, 204)
  assert.equal(reply.text, '')
  assertRefused(await api.call('GET', '/job/api/jobs', { key: apiKey }), 'J-802')
})

test('a key can revoke itself, and a second revocation keeps the instant of the first', async () => {
  const { keyId, apiKey } = await api.newKey(['MANAGE'])
  assert.equal((await api.call('DELETE', `${keys}/${keyId}`, { key: apiKey })).status, 204)
  assertRefused(await api.call('DELETE', `${keys}/${keyId}`, { key: apiKey }), 'J-802')
  const revokedAt = async () => {
    const { items } = (await api.call('GET', `${keys}?limit=200`)).json
    return items.find((key: { keyId: string }) => key.keyId === keyId).revokedAt
  }
  const first = await revokedAt()
  clock.forward(1000)
  assert.equal((await api.call('DELETE', `${keys}/${keyId}`)).status, 204)
  assert.equal(await revokedAt(), first)
})

test('DELETE of a key with ADMIN by one without it answers J-804, and the key continues', async () => {
  const admin = await api.newKey(['ADMIN', 'READ'])
  const { apiKey: key } = await api.newKey(['MANAGE'])
  const reply = await api.call('DELETE', `/job/api/keys/${admin.keyId}`, { key })
  assertRefused(reply, 'J-804', 'ADMIN')
  assert.equal((await api.call('GET', '/job/api/owners', { key: admin.apiKey })).status, 200)
})

test('DELETE answers J-805 for an unknown key', async () => {
  assertRefused(await api.call('DELETE', `${keys}/0000000000`), 'J-805')
})

test('expiry is judged on each request: J-803 once the instant has come', async () => {
  const { apiKey } = await api.newKey(['READ'], { expiresAt: inAnHour() })
  const read = () => api.call('GET', '/job/api/jobs', { key: apiKey })
  clock.forward(hour - 1)
  assert.equal((await read()).status, 200)
  clock.forward(1)
  assertRefused(await read(), 'J-803')
})

test('expiresAt may be null or have an offset', async () => {
  assert.equal((await api.newKey(['READ'], { expiresAt: null })).keyId.length, 10)
  const key = await api.newKey(['READ'], { expiresAt: '2126-11-15T09:30:00.5+02:00' })
  assert.equal((key as unknown as { expiresAt: string }).expiresAt, '2126-11-15T07:30:00.500Z')
})

const refusedBodies: Record<string, object> = {
  'no keyName': { scopes: ['READ'] },
  'an empty keyName': { keyName: '' },
  'an unknown scope': { keyName: 'a', scopes: ['WRITE'] },
  'a scope in lower case': { keyName: 'a', scopes: ['read'] },
  'a scope given twice': { keyName: 'a', scopes: ['READ', 'READ'] },
  'scopes as text': { keyName: 'a', scopes: 'READ' },
  'an unknown field': { keyName: 'a', revokedAt: null },
  'a keyId of its own': { keyName: 'a', keyId: '0123456789' },
  'an expiresAt without offset': { keyName: 'a', expiresAt: '2126-11-15T09:30:00' },
  'an expiresAt with a blank': { keyName: 'a', expiresAt: '2126-11-15 09:30:00Z' },
  'an expiresAt at a leap second, which would be no time at all': {
    keyName: 'a',
    expiresAt: '2126-12-31T23:59:60Z',
  },
  'an expiresAt whose offset has no minutes': { keyName: 'a', expiresAt: '2126-11-15T09:30:00+05' },
  'an expiresAt that no calendar has': { keyName: 'a', expiresAt: '2126-02-30T00:00:00Z' },
  'an expiresAt in milliseconds': { keyName: 'a', expiresAt: 4_000_000_000_000 },
}
for (const [title, body] of Object.entries(refusedBodies)) {
  test(`POST answers J-500 to ${title}`, async () => {
    assertRefused(await api.call('POST', keys, { body }), 'J-500')
  })
}

test('lastUsedAt is that of the last request, although that is written later', async () => {
  const used = await api.newKey(['READ'])
  const self = async () => (await api.call('GET', `${keys}/self`, { key: used.apiKey })).json
  await self()
  const listed = async () => {
    const { items } = (await api.call('GET', `${keys}?limit=200`)).json
    return (items as Listed[]).find(({ keyId }) => keyId === used.keyId)?.lastUsedAt
  }
  assert.equal(await listed(), new Date(clock.now()).toISOString())
  assert.equal((await self()).lastUsedAt, new Date(clock.now()).toISOString())
})

test('lastUsedAt is null while unused, and is kept over a restart', async (t) => {
  const dataFolder = temporaryFolder(t)
  const before = await openServer(t, { dataFolder })
  const used = await before.newKey(['READ'])
  const unused = await before.newKey(['READ'])
  const begun = Date.now()
  await before.call('GET', '/job/api/jobs', { key: used.apiKey })
  await before.server.stop()
  const after = await openServer(t, { dataFolder })
  const { items } = (await after.call('GET', keys)).json
  const lastUsedAt = (keyId: string) => items.find((key: { keyId: string }) => key.keyId === keyId).lastUsedAt
  assert.ok(Date.parse(lastUsedAt(used.keyId)) >= begun)
  assert.equal(lastUsedAt(unused.keyId), null)
})

test('any valid key may read itself, whatever its scopes; a revoked one may not', async () => {
  const { apiKey, ...made } = await api.newKey([])
  const reply = await api.call('GET', `${keys}/self`, { key: apiKey })
  assert.equal(reply.status, 200)
  const none = { email: null, owners: [] }
  const asPrincipal = { principal: `key:${made.keyId}`, name: 'test', ownerName: 'default', ...none }
  assert.deepEqual({ ...reply.json, lastUsedAt: null }, { ...made, ...asPrincipal, lastUsedAt: null })
  await api.call('DELETE', `${keys}/${made.keyId}`)
  assertRefused(await api.call('GET', `${keys}/self`, { key: apiKey }), 'J-802')
})

type Listed = {
  keyId: string
  createdBy: string
  createdByName: string | null
  createdBySession: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

test('a key says which key created it, and in which session', async () => {
  const { json: self } = await api.call('GET', `${keys}/self`)
  assert.deepEqual([self.createdBy, self.createdByName, self.createdBySession], ['operator', null, null])
  const maker = await api.newKey(['MANAGE', 'READ'])
  const made = await api.call('POST', keys, { key: maker.apiKey, body: { keyName: 'child' } })
  const byMaker = [`key:${maker.keyId}`, 'test']
  const makerOf = (key: Listed) => [key.createdBy, key.createdByName, key.createdBySession]
  assert.deepEqual(makerOf(made.json), [...byMaker, null])
  const origin = { origin: api.http, 'content-type': 'application/json' }
  const post = (path: string, body: object, headers = {}) =>
    fetch(api.http + path, { method: 'POST', headers: { ...origin, ...headers }, body: JSON.stringify(body) })
  const signedIn = await post('/job/api/session', { apiKey: maker.apiKey })
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? []
  const inSession = (await (await post(keys, { keyName: 'child' }, { cookie })).json()) as Listed
  const sessionId = cookie.slice('jobcast_session=js_'.length, 'jobcast_session=js_'.length + 10)
  assert.deepEqual(makerOf(inSession), [...byMaker, sessionId])
})

test('a key does not outlive the one that creates it: the same expiry, or an earlier one', async () => {
  const bound = inAnHour()
  const maker = await api.newKey(['MANAGE'], { expiresAt: bound })
  const make = (expiresAt?: string | null) =>
    api.call('POST', keys, {
      key: maker.apiKey,
      headers: { accept: 'application/problem+json' },
      body: { keyName: 'child', ...(expiresAt !== undefined && { expiresAt }) },
    })
  for (const none of [undefined, null]) assert.equal((await make(none)).json.expiresAt, bound)
  assert.equal((await make(bound)).json.expiresAt, bound)
  const earlier = new Date(clock.now() + 1000).toISOString()
  assert.equal((await make(earlier)).json.expiresAt, earlier)
  const { status, json } = await make(new Date(Date.parse(bound) + 1).toISOString())
  assert.deepEqual(
    [status, json.code, json.field, json.detail],
    [
      400,
      'J-500',
      'expiresAt',
      `expiresAt must be at or before ${bound}, when the key that creates it expires.`,
    ],
  )
})

test('a key is revoked alone, or with all that descends from it and their enrollments', async () => {
  const chain = await api.newKey(['MANAGE'])
  const childOf = async (key: string) =>
    (await api.call('POST', keys, { key, body: { keyName: 'child', scopes: ['MANAGE'] } })).json
  const child = await childOf(chain.apiKey)
  const grandchild = await childOf(child.apiKey)
  const enrollment = await api.call('POST', '/job/api/enrollments', { key: grandchild.apiKey })
  assert.equal(enrollment.json.createdBy, `key:${grandchild.keyId}`)
  const works = async ({ apiKey }: { apiKey: string }) =>
    (await api.call('GET', `${keys}/self`, { key: apiKey })).status === 200

  assert.equal((await api.call('DELETE', `${keys}/${chain.keyId}`)).status, 204)
  assert.deepEqual([await works(chain), await works(child), await works(grandchild)], [false, true, true])
  const { items } = (await api.call('GET', `${keys}?limit=200`)).json
  const left = (items as Listed[]).find(({ keyId }) => keyId === child.keyId)
  assert.deepEqual([left?.createdBy, left?.revokedAt], [`key:${chain.keyId}`, null])

  const all = await api.call('DELETE', `${keys}/${chain.keyId}?descendants=true`)
  assert.equal(all.status, 200)
  const nothing = { pausedSchedules: [], pausedRuns: [], isMore: false }
  assert.deepEqual(all.json, { revokedKeys: 2, revokedEnrollments: 1, ...nothing })
  assert.deepEqual([await works(child), await works(grandchild)], [false, false])
  const again = await api.call('DELETE', `${keys}/${chain.keyId}?descendants=true`)
  assert.deepEqual(again.json, { revokedKeys: 0, revokedEnrollments: 0, ...nothing })
  assertRefused(await api.call('DELETE', `${keys}/${chain.keyId}?descendants=maybe`), 'J-500')
})

test('the last key with ADMIN is not revoked: J-812, also not with its descendants', async (t) => {
  const own = await openServer(t, { now: clock.now })
  const { keyId } = (await own.call('GET', `${keys}/self`)).json
  assertRefused(await own.call('DELETE', `${keys}/${keyId}`), 'J-812')
  const other = await own.newKey(['ADMIN'], { expiresAt: inAnHour() })
  assertRefused(await own.call('DELETE', `${keys}/${keyId}?descendants=true`), 'J-812')
  clock.forward(hour)
  assertRefused(await own.call('DELETE', `${keys}/${keyId}`), 'J-812')
  assert.equal((await own.call('DELETE', `${keys}/${other.keyId}`)).status, 204)
  const next = await own.newKey(['ADMIN'])
  assert.equal((await own.call('DELETE', `${keys}/${keyId}`)).status, 204)
  assertRefused(await own.call('DELETE', `${keys}/${next.keyId}`, { key: next.apiKey }), 'J-812')
})
