// Invalid responses of an issuer, or of an attacker who impersonates one, and claims in unusual places.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openServer } from '@jobcast/testkit/open-server'

const publicUrl = 'https://jobcast.test'
const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openForgingIssuer(ending)
const settings = {
  publicUrl,
  oidc: {
    ...{ issuer: issuer.url, clientId: 'jobcast', clientSecret: 'secret', scopes: 'openid' },
    claim: 'realm_access.roles',
    roles: new Map([['ops', [{ owner: 'default', role: 'viewer' as const }]]]),
  },
}
const api = await openServer(ending, settings)

type Claims = Record<string, unknown>

/** As good as they get. */
function goodClaims(nonce: string): Claims {
  const now = Math.floor(Date.now() / 1000)
  const about = { sub: 'ana', realm_access: { roles: ['others', 'ops'] } }
  return { iss: issuer.url, aud: 'jobcast', iat: now, exp: now + 300, nonce, ...about }
}

async function signIn(forge: (nonce: string) => Promise<string>): Promise<number> {
  const browser = new CookieBrowser({ [publicUrl]: api.http })
  const toIssuer = await browser.send(`${publicUrl}/auth/sign-in`)
  const { searchParams: asked } = new URL(toIssuer.headers.get('location') ?? '')
  assert.equal(asked.get('code_challenge_method'), 'S256')
  issuer.idToken = () => forge(asked.get('nonce') ?? '')
  const { status } = await browser.send(`${publicUrl}/auth/callback?code=any&state=${asked.get('state')}`)
  assert.equal(browser.cookieOf(publicUrl, '__Host-jobcast_session') !== undefined, status === 303)
  return status
}

const withClaims = (changed: (nonce: string) => Claims) => (nonce: string) =>
  issuer.sign({ ...goodClaims(nonce), ...changed(nonce) })
const seconds = () => Math.floor(Date.now() / 1000)

test('a valid token signs in, with nested groups', async () => {
  assert.equal(await signIn(withClaims(() => ({}))), 303)
})

test('the clocks may differ by a minute', async () => {
  assert.equal(await signIn(withClaims(() => ({ iat: seconds() + 50, exp: seconds() + 350 }))), 303)
  assert.equal(await signIn(withClaims(() => ({ iat: seconds() - 350, exp: seconds() - 50 }))), 303)
})

const refused: Record<string, (nonce: string) => Promise<string>> = {
  'of another audience': withClaims(() => ({ aud: 'other' })),
  'of several audiences, for another party': withClaims(() => ({ aud: ['jobcast', 'other'], azp: 'other' })),
  'of another issuer': withClaims(() => ({ iss: 'https://other.example.com' })),
  'that is expired': withClaims(() => ({ exp: seconds() - 90 })),
  'with another nonce': withClaims(() => ({ nonce: 'other' })),
  'without a nonce': withClaims(() => ({ nonce: undefined })),
  'without a subject': withClaims(() => ({ sub: undefined })),
  'with a subject of control characters': withClaims(() => ({ sub: 'ana\n' })),
  'with a subject that is too long': withClaims(() => ({ sub: 'a'.repeat(256) })),
  'without a signature (alg none)': (nonce) => issuer.unsigned(goodClaims(nonce)),
  'signed by the public key (HS256)': (nonce) => issuer.signByPublicKey(goodClaims(nonce)),
  'signed by a stranger': (nonce) => issuer.signByStranger(goodClaims(nonce)),
  'that is no token': async () => 'no.token.atall',
}

for (const [what, forge] of Object.entries(refused)) {
  test(`a token ${what} is refused`, async () => {
    assert.equal(await signIn(forge), 403)
  })
}

test('groups of the wrong form are ignored', async () => {
  for (const realm of [undefined, null, 'ops', { roles: { ops: true } }, { roles: null }, ['ops']]) {
    assert.equal(await signIn(withClaims(() => ({ realm_access: realm }))), 403, JSON.stringify(realm))
  }
})

test('keys may rotate', async () => {
  await issuer.rotate()
  assert.equal(await signIn(withClaims(() => ({}))), 303)
})

test('however many sign-ins begin, the metadata of the issuer is requested once a minute', async (t) => {
  let passedMs = 0
  const startedAt = Date.now()
  const { http } = await openServer(t, { ...settings, now: () => startedAt + passedMs })
  const before = issuer.discoveries
  const begin = async () => (await fetch(`${http}/auth/sign-in`, { redirect: 'manual' })).status
  for (const asked of [0, 1]) {
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map(begin)), [303, 303, 303, 303])
    assert.equal(await begin(), 303)
    assert.equal(issuer.discoveries - before, asked)
    passedMs += 60_000
  }
})

test('a sign-in with a forged cookie is a failed sign-in', async (t) => {
  const rates = { address: 0, 'sign-in': 1, key: 0, owner: 0, device: 0, session: 0 }
  const { http, call } = await openServer(t, { ...settings, rates })
  issuer.idToken = () => issuer.sign(goodClaims('other'))
  const checks = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43), returnTo: '/' }
  const kept = Buffer.from(JSON.stringify(checks)).toString('base64url')
  const headers = { cookie: `__Host-jobcast_sign_in=${kept}` }
  const statuses = new Set<number>()
  for (let sent = 0; sent < 100 && !statuses.has(429); sent++)
    statuses.add((await fetch(`${http}/auth/callback?code=any&state=s`, { headers })).status)
  assert.deepEqual([...statuses], [403, 429])
  assert.equal((await call('GET', '/job/api/keys/self')).status, 200, 'keys continue')
})
