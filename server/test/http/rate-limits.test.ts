// Clients beyond their rate limit get 429 J-911 with the time to wait; others do not.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'
import { assertRefused } from './assert-reply.ts'

const unlimited = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 }
/** The number of requests allowed in a burst: ten seconds' worth. */
const burst = 10

async function openLimited(t: TestContext, rates: Partial<typeof unlimited>) {
  const clock = { ms: 0 }
  const api = await openServer(t, { rates: { ...unlimited, ...rates }, elapsed: () => clock.ms })
  return { api, clock }
}

const self = (api: OpenServer, key: string) => api.call('GET', '/job/api/keys/self', { key })

async function statuses(times: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await call()).status)
  return all
}

test('a key that sends too much is refused until its bucket has filled again; others are not', async (t) => {
  const { api, clock } = await openLimited(t, { key: 1 })
  const { apiKey } = await api.newKey(['READ'])
  assert.ok((await statuses(burst, () => self(api, apiKey))).every((status) => status === 200))
  const refused = await self(api, apiKey)
  assertRefused(refused, 'J-911')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('ratelimit-policy'), '"key";q=10;w=10')
  assert.equal(refused.headers.get('ratelimit'), '"key";r=0;t=1')
  const { apiKey: another } = await api.newKey(['READ'])
  assert.equal((await self(api, another)).status, 200)
  clock.ms += 1000
  assert.equal((await self(api, apiKey)).status, 200)
  assert.equal((await self(api, apiKey)).status, 429)
})

test('all keys of an owner share the rate of the owner', async (t) => {
  const { api } = await openLimited(t, { owner: 1 })
  const { ownerId, key } = await api.newOwner('north')
  const { apiKey } = await api.newKey(['READ'], { ownerId })
  const replies = await statuses(burst, () => self(api, key))
  assert.ok(replies.every((status) => status === 200))
  const refused = await self(api, apiKey)
  assertRefused(refused, 'J-911')
  assert.match(refused.headers.get('ratelimit') ?? '', /^"owner"/)
})

test('without a key the address is limited, and the connection closed; with one it is not', async (t) => {
  const { api } = await openLimited(t, { address: 1 })
  const replies = await statuses(burst, () => api.call('GET', '/livez'))
  assert.ok(replies.every((status) => status === 200))
  const refused = await api.call('GET', '/livez')
  assertRefused(refused, 'J-911')
  assert.equal(refused.headers.get('connection'), 'close')
  assert.equal((await self(api, api.adminKey)).status, 200)
})

test('failed sign-ins are throttled by address, and valid keys continue', async (t) => {
  const { api } = await openLimited(t, { 'sign-in': 1 })
  const bad = await statuses(burst, () => self(api, 'bad'))
  assert.ok(bad.every((status) => status === 403))
  assertRefused(await self(api, 'bad'), 'J-911')
  const signIn = (apiKey: string) => api.call('POST', '/job/api/session', { body: { apiKey } })
  assertRefused(await signIn('bad'), 'J-911')
  assert.equal((await signIn(api.adminKey)).status, 201)
  assert.equal((await self(api, api.adminKey)).status, 200)
})

test('a device that asks too often over HTTP gets ThrottlingException, a wrong token too', async (t) => {
  const { api } = await openLimited(t, { device: 1, 'sign-in': 1 })
  await api.putJobAndDevices('restart', ['d1'])
  const { json } = await api.call('POST', '/job/api/devices/d1/credential')
  const ask = (token: string) =>
    fetch(`${api.http}/things/d1/jobs`, { headers: { authorization: `Bearer ${token}` } })
  for (const [token, usual] of [
    [json.deviceToken, 200],
    ['bad', 401],
  ]) {
    assert.ok((await statuses(burst, () => ask(token))).every((status) => status === usual))
    const refused = await ask(token)
    assert.deepEqual(
      [refused.status, refused.headers.get('x-amzn-errortype'), refused.headers.get('retry-after')],
      [429, 'ThrottlingException', '1'],
    )
  }
})

test('0 switches a limit off', async (t) => {
  const { api } = await openLimited(t, {})
  const replies = await statuses(5 * burst, () => api.call('GET', '/livez'))
  assert.ok(replies.every((status) => status === 200))
})

test('sign-ins that succeed have a rate, by key and by owner and address; other owners are not refused', async (t) => {
  const { api, clock } = await openLimited(t, { session: 1 })
  const { key: other } = await api.newOwner('other')
  const signIn = (apiKey: string) => api.call('POST', '/job/api/session', { body: { apiKey } })
  assert.ok((await statuses(burst, () => signIn(api.adminKey))).every((status) => status === 201))
  const refused = await signIn(api.adminKey)
  assertRefused(refused, 'J-911')
  assert.equal(refused.headers.get('ratelimit-policy'), '"session";q=10;w=10')
  assert.equal((await api.call('POST', '/job/api/session/tickets')).status, 429)
  const { apiKey: second } = await api.newKey(['READ'])
  assertRefused(await signIn(second), 'J-911')
  assert.equal((await signIn(other)).status, 201)
  assert.equal((await self(api, api.adminKey)).status, 200)
  clock.ms += 1000
  assert.equal((await signIn(api.adminKey)).status, 201)
})
