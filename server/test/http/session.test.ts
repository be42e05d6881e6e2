// Sign-in: a key or a ticket is exchanged for a cookie, which is valid as long as the key, and only for our own pages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const { host } = new URL(api.http)
const path = '/job/api/session'

/** Without a key. `fetch` does not allow setting Sec-Fetch-Site, but Origin. */
async function send(method: string, address: string, headers: Record<string, string>, body?: object) {
  const response = await fetch(api.http + address, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    json: text === '' ? undefined : JSON.parse(text),
  }
}

const own = { origin: api.http }

async function signIn(by: object): Promise<{ cookie: string; attributes: string[]; json: Reply['json'] }> {
  const reply = await send('POST', path, own, by)
  assert.equal(reply.status, 201, JSON.stringify(reply.json))
  const [cookie = '', ...attributes] = reply.headers.get('set-cookie')?.split('; ') ?? []
  return { cookie, attributes, json: reply.json }
}

const read = (cookie: string) => send('GET', '/job/api/jobs', { cookie })

test('a key becomes a cookie that scripts cannot read and other sites do not send', async () => {
  const { cookie, attributes, json } = await signIn({ apiKey: api.adminKey })
  assert.match(cookie, /^jobcast_session=js_\w{48}$/)
  assert.deepEqual(attributes.toSorted(), ['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict'])
  const { json: self } = await api.call('GET', '/job/api/keys/self')
  assert.deepEqual({ ...json, lastUsedAt: null }, { ...self, lastUsedAt: null })
  assert.equal((await read(cookie)).status, 200)
  assert.equal((await read(`theme=dark; ${cookie}; other=1`)).status, 200)
})

test('the cookie is Secure when the page came by TLS, also through a proxy', async () => {
  const headers = { origin: `https://${host}` }
  const reply = await send('POST', path, headers, { apiKey: api.adminKey })
  const cookie = reply.headers.get('set-cookie') ?? ''
  assert.match(cookie, /^__Host-jobcast_session=js_\w{48}; Path=\/; .*; Secure$/)
  const [pair = ''] = cookie.split(';')
  assert.equal((await read(pair)).status, 200)
  assert.equal((await read(`jobcast_session=other; ${pair}`)).status, 200)
})

test('a ticket signs in once, with the scopes of the key that asked for it', async () => {
  const { apiKey, keyId } = await api.newKey(['READ'])
  const { json } = await api.call('POST', `${path}/tickets`, { key: apiKey })
  assert.equal(Date.parse(json.expiresAt) - clock.now(), 10 * 60_000)
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => send('POST', path, own, { ticket: json.ticket })),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 403, 403, 403, 403])
  assert.deepEqual(
    [...new Set(replies.map(({ json }) => json.code ?? json.keyId))].toSorted(),
    [keyId, 'J-808'].toSorted(),
  )
})

test('a ticket is no session, and a session no ticket and no key', async () => {
  const { json } = await api.call('POST', `${path}/tickets`)
  assert.equal((await read(`jobcast_session=${json.ticket}`)).json.code, 'J-808')
  const session = (await signIn({ ticket: json.ticket })).cookie.split('=')[1] ?? ''
  assert.equal((await send('POST', path, own, { ticket: session })).json.code, 'J-808')
  assert.equal((await api.call('GET', '/job/api/jobs', { key: session })).json.code, 'J-802')
})

const refused: [string, object, string][] = [
  ['an unknown key', { apiKey: 'jc_nothing' }, 'J-802'],
  ['an unknown ticket', { ticket: 'jt_nothing' }, 'J-808'],
  ['neither', {}, 'J-500'],
  ['both', { apiKey: 'jc_nothing', ticket: 'jt_nothing' }, 'J-500'],
]
for (const [what, body, code] of refused) {
  test(`${what} does not sign in: ${code}`, async () => {
    const reply = await send('POST', path, own, body)
    assert.equal(reply.json.code, code)
    assert.equal(reply.headers.get('set-cookie'), null)
  })
}

test('a session is refused as its key would be: revoked J-802, expired J-803, without the scope J-804', async () => {
  const revoked = await api.newKey(['READ'])
  const expiresAt = new Date(clock.now() + 60_000).toISOString()
  const expiring = await api.newKey(['READ'], { expiresAt })
  const scopeless = await api.newKey(['TRIGGER'])
  const [first, second, third] = await Promise.all(
    [revoked, expiring, scopeless].map(({ apiKey }) => signIn({ apiKey })),
  )
  assert.equal((await read(first?.cookie ?? '')).status, 200)
  assert.equal((await read(second?.cookie ?? '')).status, 200)
  assert.deepEqual((await read(third?.cookie ?? '')).json.code, 'J-804')
  await api.call('DELETE', `/job/api/keys/${revoked.keyId}`)
  clock.forward(60_000)
  assert.equal((await read(first?.cookie ?? '')).json.code, 'J-802')
  assert.equal((await read(second?.cookie ?? '')).json.code, 'J-803')
})

test('a session ends after twelve hours, a ticket after ten minutes', async () => {
  const end = clock.now() + 12 * 60 * 60_000
  const { cookie } = await signIn({ apiKey: api.adminKey })
  const { json } = await api.call('POST', `${path}/tickets`)
  clock.forward(10 * 60_000)
  assert.equal((await send('POST', path, own, { ticket: json.ticket })).json.code, 'J-808')
  for (; clock.now() + 59 * 60_000 < end; clock.forward(59 * 60_000))
    assert.equal((await read(cookie)).status, 200)
  assert.equal((await read(cookie)).status, 200)
  clock.forward(end - clock.now() - 1)
  assert.equal((await read(cookie)).status, 200)
  clock.forward(1)
  assert.equal((await read(cookie)).json.code, 'J-808')
})

test('a session that is not used for an hour ends', async () => {
  const { cookie } = await signIn({ apiKey: api.adminKey })
  for (let time = 0; time < 3; time++) {
    clock.forward(60 * 60_000 - 1)
    assert.equal((await read(cookie)).status, 200)
  }
  clock.forward(60 * 60_000)
  assert.equal((await read(cookie)).json.code, 'J-808')
  const { json } = await api.call('GET', '/job/api/sessions?limit=200')
  assert.deepEqual(
    json.items.filter((each: { sessionId: string }) => cookie.includes(each.sessionId)),
    [],
  )
})

test('a session cannot renew itself: what it makes by tickets ends with it', async () => {
  const first = await signIn({ apiKey: api.adminKey })
  clock.forward(59 * 60_000)
  const ticketOf = async (cookie: string) =>
    (await send('POST', `${path}/tickets`, { cookie, ...own })).json.ticket as string
  const second = await signIn({ ticket: await ticketOf(first.cookie) })
  assert.ok(second.attributes.includes(`Max-Age=${11 * 3600 + 60}`), second.attributes.join())
  const third = await signIn({ ticket: await ticketOf(second.cookie) })
  const unused = await ticketOf(third.cookie)
  assert.equal((await read(third.cookie)).status, 200)
  // The first is signed out: all that came from it is void.
  assert.equal((await send('DELETE', path, { cookie: first.cookie, ...own })).status, 204)
  for (const { cookie } of [first, second, third]) assert.equal((await read(cookie)).json.code, 'J-808')
  assert.equal((await send('POST', path, own, { ticket: unused })).json.code, 'J-808')
})

test('a ticket says as whom it signs in, and remains valid', async () => {
  const { apiKey, keyId } = await api.newKey(['READ'])
  const { json } = await api.call('POST', `${path}/tickets`, { key: apiKey })
  const check = (ticket: string, headers: Record<string, string> = own) =>
    send('POST', `${path}/tickets/check`, headers, { ticket })
  const { status, json: facts } = await check(json.ticket)
  const { json: self } = await api.call('GET', '/job/api/keys/self', { key: apiKey })
  const { keyName, ownerId } = self
  assert.equal(status, 200)
  assert.deepEqual(facts, { keyId, keyName, ownerId, ownerName: 'default', expiresAt: json.expiresAt })
  assert.equal((await check(json.ticket, { origin: 'https://elsewhere.invalid' })).json.code, 'J-809')
  assert.equal((await check('jt_nothing')).json.code, 'J-808')
  await signIn({ ticket: json.ticket })
  assert.equal((await check(json.ticket)).json.code, 'J-808')
})

test('sessions are listed and ended by who manages keys: a READ key sees none', async () => {
  const member = await api.newKey(['MANAGE', 'READ'])
  const { cookie } = await signIn({ apiKey: member.apiKey })
  const admin = await signIn({ apiKey: api.adminKey })
  const sessionId = cookie.slice('jobcast_session=js_'.length).slice(0, 10)
  const adminSession = admin.cookie.slice('jobcast_session=js_'.length).slice(0, 10)
  type Item = { sessionId: string; current: boolean }
  const find = (items: Item[], id: string) => items.find((each) => each.sessionId === id)
  const listed = await send('GET', '/job/api/sessions?limit=200', { cookie })
  const mine = find(listed.json.items, sessionId)
  const at = new Date(clock.now())
  assert.deepEqual(mine, {
    sessionId,
    keyId: member.keyId,
    keyName: (member as unknown as { keyName: string }).keyName,
    ownerId: (member as unknown as { ownerId: string }).ownerId,
    createdAt: at.toISOString(),
    lastUsedAt: at.toISOString(),
    expiresAt: new Date(at.getTime() + 12 * 60 * 60_000).toISOString(),
    address: '127.0.0.1',
    userAgent: 'node',
    current: true,
  })
  assert.equal(find(listed.json.items, adminSession)?.current, false)
  const reader = await api.newKey(['READ'])
  assert.equal((await api.call('GET', '/job/api/sessions', { key: reader.apiKey })).json.code, 'J-804')
  const end = (id: string, key: string) => api.call('DELETE', `/job/api/sessions/${id}`, { key })
  assert.equal((await end(sessionId, reader.apiKey)).json.code, 'J-804')
  // That of an ADMIN key is ended by an ADMIN key only.
  assert.equal((await end(adminSession, member.apiKey)).json.code, 'J-804')
  const { json: owner } = await api.call('POST', '/job/api/owners', { body: { ownerName: 'sessions' } })
  const foreign = await api.newKey(['MANAGE'], { ownerId: owner.ownerId })
  assert.equal((await end(sessionId, foreign.apiKey)).json.code, 'J-811')
  assert.deepEqual((await api.call('GET', '/job/api/sessions', { key: foreign.apiKey })).json.items, [])
  assert.equal((await end('0000000000', api.adminKey)).json.code, 'J-811')
  assert.equal((await end(sessionId, api.adminKey)).status, 204)
  assert.equal((await end(sessionId, api.adminKey)).json.code, 'J-811')
  assert.equal((await read(cookie)).json.code, 'J-808')
  assert.equal((await read(admin.cookie)).status, 200)
})

test('signing out ends the session and removes the cookie, however often', async () => {
  const { cookie } = await signIn({ apiKey: api.adminKey })
  for (let time = 0; time < 2; time++) {
    const reply = await send('DELETE', path, { cookie, ...own })
    assert.equal(reply.status, 204)
    assert.match(reply.headers.get('set-cookie') ?? '', /^jobcast_session=; Path=\/; Max-Age=0;/)
  }
  assert.equal((await read(cookie)).json.code, 'J-808')
})

test('a key in the header takes precedence: a session does not replace an invalid one', async () => {
  const { cookie } = await signIn({ apiKey: api.adminKey })
  const reply = await send('GET', '/job/api/jobs', { cookie, 'x-api-key': 'jc_nothing' })
  assert.equal(reply.json.code, 'J-802')
  const empty = await send('GET', '/job/api/jobs', { cookie, 'x-api-key': '' })
  assert.equal(empty.json.code, 'J-802')
})

test('a key in a cookie is not accepted: J-802, or J-808 in the cookie of the session', async () => {
  assert.equal((await read(`X-API-Key=${api.adminKey}`)).json.code, 'J-802')
  assert.equal((await read(`jobcast_session=${api.adminKey}`)).json.code, 'J-808')
})

const origins: [string, Record<string, string>, number][] = [
  ['its own origin', own, 200],
  ['another origin', { origin: 'https://elsewhere.invalid' }, 403],
  ['another port of the same host', { origin: 'http://127.0.0.1:1' }, 403],
  ['no origin at all', {}, 403],
  ['an origin that is none', { origin: 'null' }, 403],
]
for (const [what, headers, status] of origins) {
  test(`what changes something, sent with a session from ${what}, is answered ${status}`, async () => {
    const { cookie } = await signIn({ apiKey: api.adminKey })
    await send('PUT', '/job/api/jobs/kept', { cookie, ...own }, {})
    const reply = await send('PUT', '/job/api/jobs/kept', { cookie, ...headers }, {})
    assert.equal(reply.status, status)
    if (status === 403) assert.equal(reply.json.code, 'J-809')
  })
}

test('no other site can sign a browser in or out', async () => {
  const headers = { origin: 'https://elsewhere.invalid' }
  assert.equal((await send('POST', path, headers, { apiKey: api.adminKey })).json.code, 'J-809')
  const { cookie } = await signIn({ apiKey: api.adminKey })
  assert.equal((await send('DELETE', path, { cookie, ...headers })).json.code, 'J-809')
  assert.equal((await read(cookie)).status, 200)
})

test('what was done with a session counts as use of the key', async () => {
  const { apiKey, keyId } = await api.newKey(['READ'])
  const { cookie } = await signIn({ apiKey })
  await read(cookie)
  await api.server.stop()
  const { openServer } = await import('@jobcast/testkit/open-server')
  const closes: (() => unknown)[] = []
  const again = await openServer({ after: (close: () => unknown) => closes.push(close) } as never, {
    dataFolder: api.folder,
    now: clock.now,
  })
  const { json } = await again.call('GET', '/job/api/keys?limit=200')
  const key = json.items.find((each: { keyId: string }) => each.keyId === keyId)
  assert.equal(Date.parse(key.lastUsedAt), clock.now())
  // The session is there again as well.
  assert.equal((await fetch(`${again.http}/job/api/jobs`, { headers: { cookie } })).status, 200)
  for (const close of closes) await close()
})
