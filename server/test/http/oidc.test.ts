// People sign in at a real issuer. Invalid responses are tested in oidc-forged.test.ts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const publicUrl = 'https://jobcast.test'
const minuteMs = 60_000
const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openIssuer(ending, { publicUrl })
let passedMs = 0
const api = await openServer(ending, {
  now: () => Date.now() + passedMs,
  sessionIdleSeconds: 24 * 3600,
  publicUrl,
  oidc: {
    issuer: issuer.url,
    clientId: issuer.clientId,
    clientSecret: issuer.clientSecret,
    scopes: 'openid profile email',
    claim: 'groups',
    roles: new Map([
      ['ops', [{ owner: 'default', role: 'operator' as const }]],
      [
        'elsewhere',
        [{ owner: 'default', role: 'viewer' as const, restriction: { addresses: ['192.0.2.0/24'] } }],
      ],
      ['admins', [{ owner: 'default', role: 'admin' as const }]],
      ['approvers', [{ owner: 'default', role: 'approver' as const }]],
      ['north-ops', [{ owner: 'north', role: 'manager' as const }]],
      ['lost', [{ owner: 'never created', role: 'admin' as const }]],
    ]),
  },
})
await api.call('POST', '/job/api/owners', { body: { ownerName: 'north' } })

const ana = { sub: 'ana-1', name: 'Ana Pérez', email: 'ana@example.com' }
const session = '__Host-jobcast_session'

function newBrowser(): CookieBrowser {
  return new CookieBrowser({ [publicUrl]: api.http })
}

async function signIn(person: object, path = '/auth/sign-in'): Promise<CookieBrowser> {
  issuer.person = { ...ana, ...person }
  const browser = newBrowser()
  const { url, status, text } = await browser.visit(publicUrl + path, (next) => next === `${publicUrl}/`)
  assert.equal(url, `${publicUrl}/`, `${status} ${text}`)
  return browser
}

/** A browser with a stored cookie. */
function withSession(cookie: string): CookieBrowser {
  const browser = newBrowser()
  browser.setCookie(publicUrl, session, cookie)
  return browser
}

async function self(browser: CookieBrowser) {
  const { status, text } = await browser.send(`${publicUrl}/job/api/keys/self`)
  return { status, json: JSON.parse(text) }
}

test('a person signs in and acts as user:<subject>, with the scopes of all roles', async () => {
  const browser = await signIn({ groups: ['ops', 'approvers', 'others'] })
  const { json } = await self(browser)
  const { principal, name, email, scopes, ownerId, owners } = json
  const { json: admin } = await api.call('GET', '/job/api/keys/self')
  assert.deepEqual(
    { principal, name, email, scopes, ownerId, owners },
    {
      principal: 'user:ana-1',
      name: 'Ana Pérez',
      email: 'ana@example.com',
      scopes: ['TRIGGER', 'READ', 'APPROVE'],
      ownerId: admin.ownerId,
      owners: ['default'],
    },
  )
  assert.match(browser.cookieOf(publicUrl, session) ?? '', /^js_\w{48}$/)
  const refused = await browser.send(`${publicUrl}/job/api/sessions`)
  assert.equal(refused.status, 403)
})

test('runs, history and keys name the person', async () => {
  await api.putJobAndDevices('restart', ['d1'])
  const browser = await signIn({ groups: ['ops'] })
  const triggered = await browser.send(`${publicUrl}/job/api/jobs/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: api.http },
    body: JSON.stringify({ jobName: 'restart', deviceIds: ['d1'] }),
  })
  assert.equal(triggered.status, 201, triggered.text)
  const [{ jobExecutionId }] = JSON.parse(triggered.text)
  const { json: runs } = await api.call('GET', '/job/api/runs')
  assert.deepEqual([runs.items[0].createdBy, runs.items[0].createdByName], ['user:ana-1', 'Ana Pérez'])
  const { json: history } = await api.call('GET', `/job/api/executions/${jobExecutionId}/history`)
  const [first] = history.items
  assert.deepEqual([first.actor, first.actorName], ['user ana-1', 'Ana Pérez'])
  const { json: audit } = await api.call('GET', '/job/api/audit?principal=user:ana-1')
  // Refusals of other tests are written a second later.
  const changes = audit.items.filter(({ action }: Record<string, string>) => action !== 'key.refused')
  assert.deepEqual(
    changes.slice(0, 2).map(({ action, name, address }: Record<string, string>) => [action, name, address]),
    ['run.created', 'session.signed_in'].map((action) => [action, 'Ana Pérez', '127.0.0.1']),
  )
  assert.deepEqual(changes[1].after.scopes, ['TRIGGER', 'READ'])
  const { json: keys } = await api.call('GET', '/job/api/keys')
  assert.equal(JSON.stringify(keys).includes('user:'), false)
})

test('keys that come from a person, also through an ADMIN key, do not approve what the person started', async () => {
  await api.putJobAndDevices('careful', ['d2'])
  const asAna = await signIn({ groups: ['ops', 'admins'] })
  const post = async (path: string, body: object) => {
    const { status, text } = await asAna.send(`${publicUrl}/job/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: api.http },
      body: JSON.stringify(body),
    })
    assert.equal(status, 201, text)
    return JSON.parse(text)
  }
  const keyBy = async (creator: string, keyName: string, scopes: string[]) => {
    const { status, json } = await api.call('POST', '/job/api/keys', {
      key: creator,
      body: { keyName, scopes },
    })
    assert.equal(status, 201, json.message)
    return json.apiKey as string
  }
  const first = (await post('keys', { keyName: 'first', scopes: ['ADMIN', 'READ'] })).apiKey
  const second = await keyBy(first, 'second', ['READ', 'APPROVE'])
  const deeper = await keyBy(await keyBy(first, 'between', ['ADMIN', 'READ']), 'third', ['READ', 'APPROVE'])
  const other = await keyBy(api.adminKey, 'of somebody else', ['READ', 'APPROVE'])
  const run = { jobName: 'careful', targets: { deviceIds: ['d2'] }, approval: true, rollout: {} }
  const { runId } = await post('runs', run)
  const approve = (key: string) => api.call('POST', `/job/api/runs/${runId}/approve`, { key, body: {} })
  for (const key of [second, deeper]) assert.equal((await approve(key)).json.code, 'J-810')
  assert.equal((await approve(other)).status, 200)
})

test('groups may be a string, which is one group', async () => {
  const { json } = await self(await signIn({ groups: 'ops' }))
  assert.deepEqual(json.scopes, ['TRIGGER', 'READ'])
})

test('a person without a role sees a page with the required groups, and gets no session', async () => {
  for (const groups of [undefined, [], 'ops approvers', ['OPS'], { ops: true }, [['ops']]]) {
    issuer.person = { ...ana, name: '<b>Ana</b>', groups }
    const browser = newBrowser()
    const { status, text } = await browser.visit(`${publicUrl}/auth/sign-in`)
    assert.equal(status, 403, JSON.stringify(groups))
    assert.match(text, /&lt;b&gt;Ana/)
    assert.match(text, /<li>ops \(operator at default\)<\/li>/)
    assert.equal(browser.cookieOf(publicUrl, session), undefined)
  }
})

test('a person with too many groups for the token sees a page about that', async () => {
  issuer.person = { ...ana, _claim_names: { groups: 'src1' } }
  const { status, text } = await newBrowser().visit(`${publicUrl}/auth/sign-in`)
  assert.equal(status, 403)
  assert.match(text, /has left out your groups/)
})

test('a person with a role for other addresses only sees a page', async () => {
  issuer.person = { ...ana, groups: ['elsewhere'] }
  const browser = newBrowser()
  const { status, text } = await browser.visit(`${publicUrl}/auth/sign-in`)
  assert.equal(status, 403)
  assert.match(text, /<h1>No access<\/h1>/)
  assert.equal(browser.cookieOf(publicUrl, session), undefined)
})

test('the right one of 500 groups is found', async () => {
  const groups = [...Array.from({ length: 499 }, (_, index) => `group-${index}`), 'ops']
  const { json } = await self(await signIn({ groups }))
  assert.deepEqual(json.scopes, ['TRIGGER', 'READ'])
})

test('an owner that does not exist is named at sign-in', async () => {
  issuer.person = { ...ana, groups: ['lost'] }
  const { status, text } = await newBrowser().visit(`${publicUrl}/auth/sign-in`)
  assert.equal(status, 403)
  assert.match(text, /owner that does not exist: never created/)
})

test('with several owners the person chooses, and may switch', async () => {
  issuer.person = { ...ana, groups: ['ops', 'north-ops'] }
  const browser = newBrowser()
  const choice = await browser.visit(`${publicUrl}/auth/sign-in?returnTo=/runs`)
  assert.equal(choice.status, 200)
  const links = Array.from(choice.text.matchAll(/href="([^"]+)">(\w+)</g), ([, href = '', name]) => ({
    href,
    name,
  }))
  assert.deepEqual(
    links.map(({ name }) => name),
    ['default', 'north'],
  )
  const north = links.at(1)?.href.replaceAll('&amp;', '&') ?? ''
  const { url } = await browser.visit(publicUrl + north, (next) => next === `${publicUrl}/runs`)
  assert.equal(url, `${publicUrl}/runs`)
  const { json } = await self(browser)
  assert.deepEqual(
    [json.scopes, json.owners],
    [
      ['TRIGGER', 'READ', 'MANAGE'],
      ['default', 'north'],
    ],
  )
  const before = browser.cookieOf(publicUrl, session) ?? ''
  await browser.visit(`${publicUrl}/auth/sign-in?owner=default`, (next) => next === `${publicUrl}/`)
  assert.notEqual((await self(browser)).json.ownerId, json.ownerId)
  assert.equal((await self(withSession(before))).status, 403)
  const refused = await browser.visit(`${publicUrl}/auth/sign-in?owner=other`)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /no role for other/)
})

test('a code signs in once, and only the browser that asked for it', async () => {
  issuer.person = { ...ana, groups: ['ops'] }
  const browser = newBrowser()
  const isCallback = (next: string) => next.startsWith(`${publicUrl}/auth/callback`)
  const { url: callback } = await browser.visit(`${publicUrl}/auth/sign-in`, isCallback)
  const kept = browser.cookieOf(publicUrl, '__Host-jobcast_sign_in') ?? ''
  const other = newBrowser()
  assert.equal((await other.send(callback)).status, 403)
  const forged = new URL(callback)
  forged.searchParams.set('state', 'other')
  const victim = newBrowser()
  victim.setCookie(publicUrl, '__Host-jobcast_sign_in', kept)
  assert.equal((await victim.send(forged.href)).status, 403)
  const mixedUp = new URL(callback)
  mixedUp.searchParams.set('iss', 'https://other.example.com')
  victim.setCookie(publicUrl, '__Host-jobcast_sign_in', kept)
  assert.equal((await victim.send(mixedUp.href)).status, 403)
  assert.equal((await browser.send(callback)).status, 303)
  assert.equal((await browser.send(callback)).status, 403, 'without the cookie')
  victim.setCookie(publicUrl, '__Host-jobcast_sign_in', kept)
  assert.equal((await victim.send(callback)).status, 403, 'with the cookie')
  assert.equal(victim.cookieOf(publicUrl, session), undefined)
})

test('a sign-in returns only to pages of this site', async () => {
  for (const returnTo of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    'runs',
  ]) {
    const browser = await signIn(
      { groups: ['ops'] },
      `/auth/sign-in?returnTo=${encodeURIComponent(returnTo)}`,
    )
    assert.notEqual(browser.cookieOf(publicUrl, session), undefined)
  }
})

test('cookies that another host of the domain could set are ignored', async () => {
  const browser = await signIn({ groups: ['ops'] })
  const planted = newBrowser()
  planted.setCookie(publicUrl, 'jobcast_session', browser.cookieOf(publicUrl, session) ?? '')
  assert.equal((await self(planted)).json.code, 'J-802')
  const isCallback = (next: string) => next.startsWith(`${publicUrl}/auth/callback`)
  const { url: callback } = await browser.visit(`${publicUrl}/auth/sign-in`, isCallback)
  const kept = browser.cookieOf(publicUrl, '__Host-jobcast_sign_in') ?? ''
  planted.setCookie(publicUrl, 'jobcast_sign_in', kept)
  assert.equal((await planted.send(callback)).status, 403)
  assert.equal((await browser.send(callback)).status, 303, 'nobody has used the code')
})

test('a session ends at once when it is deleted', async () => {
  const browser = await signIn({ groups: ['ops'] })
  const { json } = await api.call('GET', '/job/api/sessions?limit=200')
  const id = (browser.cookieOf(publicUrl, session) ?? '').slice(3, 13)
  const listed = json.items.find(({ sessionId }: { sessionId: string }) => sessionId === id)
  assert.equal(listed.keyName, 'Ana Pérez')
  assert.equal((await api.call('DELETE', `/job/api/sessions/${id}`)).status, 204)
  assert.equal((await self(browser)).status, 403)
})

test('a stream ends when its session is deleted, or when the person has lost all groups', async () => {
  const listen = async (browser: CookieBrowser) => {
    const secret = browser.cookieOf(publicUrl, session) ?? ''
    const stream = await EventListener.open(api.http, '', { cookie: `${session}=${secret}` })
    assert.equal(stream.response.status, 200)
    return { stream, id: secret.slice(3, 13) }
  }
  const deleted = await listen(await signIn({ groups: ['ops'] }))
  const lost = await listen(await signIn({ groups: ['ops'] }))
  let isLostOver = false
  void lost.stream.ended.then(() => {
    isLostOver = true
  })
  assert.equal((await api.call('DELETE', `/job/api/sessions/${deleted.id}`)).status, 204)
  await deleted.stream.ended
  assert.equal(isLostOver, false, 'another session of the person continues')
  issuer.person = { ...ana, groups: [] }
  passedMs += 61 * minuteMs
  await lost.stream.ended
})

test('a stream ends when the person has other roles than at its start', async () => {
  const secret = (await signIn({ groups: ['ops'] })).cookieOf(publicUrl, session) ?? ''
  const stream = await EventListener.open(api.http, '', { cookie: `${session}=${secret}` })
  assert.equal(stream.response.status, 200)
  issuer.person = { ...ana, groups: ['approvers'] }
  passedMs += 61 * minuteMs
  await stream.ended
})

test('groups are read again within the hour, without a wait', async () => {
  const browser = await signIn({ groups: ['ops'] })
  issuer.person = { ...ana, groups: ['approvers'] }
  assert.deepEqual((await self(browser)).json.scopes, ['TRIGGER', 'READ'])
  passedMs += 46 * minuteMs
  const before = issuer.refreshes
  await Promise.all(Array.from({ length: 5 }, () => self(browser)))
  await waitUntil('the groups were read again', async () =>
    (await self(browser)).json.scopes.includes('APPROVE'),
  )
  assert.deepEqual((await self(browser)).json.scopes, ['READ', 'APPROVE'])
  assert.equal(issuer.refreshes, before + 1)
})

test('a person who lost all groups is signed out', async () => {
  const browser = await signIn({ groups: ['ops'] })
  issuer.person = { ...ana, groups: [] }
  passedMs += 61 * minuteMs
  const { status, json } = await self(browser)
  assert.deepEqual([status, json.code], [403, 'J-808'])
})

test('while the issuer is down sessions continue until the hour is over, and new sign-ins fail', async () => {
  const browser = await signIn({ groups: ['ops'] })
  issuer.isDown = true
  try {
    passedMs += 50 * minuteMs
    assert.equal((await self(browser)).status, 200)
    const { status, text } = await newBrowser().visit(`${publicUrl}/auth/sign-in`)
    assert.equal(status, 503)
    assert.match(text, /cannot be reached/)
    passedMs += 11 * minuteMs
    assert.equal((await self(browser)).status, 403)
  } finally {
    issuer.isDown = false
  }
  passedMs += minuteMs
  assert.equal((await self(browser)).status, 200, 'it is asked again when it is back')
})

test('sign-out ends the session, the refresh token and the session at the issuer', async () => {
  const browser = await signIn({ groups: ['ops'] })
  const cookie = browser.cookieOf(publicUrl, session) ?? ''
  const crossSite = { origin: 'https://evil.example' }
  assert.equal(
    (await browser.send(`${publicUrl}/auth/sign-out`, { method: 'POST', headers: crossSite })).status,
    403,
  )
  const { status, text } = await browser.send(`${publicUrl}/auth/sign-out`, { method: 'POST' })
  assert.equal(status, 200)
  const signOutUrl = new URL(JSON.parse(text).signOutUrl)
  assert.equal(signOutUrl.origin, issuer.url)
  assert.equal(signOutUrl.searchParams.get('post_logout_redirect_uri'), `${publicUrl}/sign-in`)
  assert.equal(browser.cookieOf(publicUrl, session), undefined)
  assert.equal((await self(withSession(cookie))).status, 403)
})

test('programs learn where people sign in', async () => {
  const reply = await fetch(`${api.http}/auth/config`)
  const { url, clientId } = issuer
  assert.deepEqual(await reply.json(), { oidc: true, issuer: url, clientId, scopes: 'openid profile email' })
})
