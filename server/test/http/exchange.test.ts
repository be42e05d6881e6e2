// Tokens of issuers are exchanged for access of 15 minutes: CI jobs by rules of oidc-trust, and people.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import type { Reply } from '@jobcast/testkit/call-api'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { noQuotas } from '../../src/domain/access/quotas.ts'

const ending = { after: (close: () => unknown) => after(close) }
const github = await openForgingIssuer(ending)
const people = await openForgingIssuer(ending)
let passedMs = 0
const rule = { issuer: github.url, audience: 'jobcast', owner: 'default', scopes: ['TRIGGER'] as Scope[] }
const changing = { ...rule, subject: 'repo:acme/changing:environment:*' }
const api = await openServer(ending, {
  quotas: { ...noQuotas, keys: 12 },
  now: () => Date.now() + passedMs,
  publicUrl: 'https://jobcast.test',
  oidcTrust: [
    { ...rule, subject: 'repo:acme/*:ref:refs/heads/main' },
    { ...rule, subject: 'repo:acme/site:environment:prod', scopes: ['TRIGGER', 'READ'] },
    { ...rule, subject: 'repo:acme/keys:environment:prod', scopes: ['MANAGE'] },
    { ...rule, subject: 'repo:acme/keys:environment:prod', audience: 'readers', scopes: ['READ'] },
    changing,
    { ...rule, subject: 'repo:acme/lost:ref:refs/heads/main', owner: 'never created' },
    {
      ...{ ...rule, subject: 'repo:acme/narrow:environment:prod', scopes: ['TRIGGER', 'READ', 'MANAGE'] },
      restriction: { jobs: ['narrow-*'] },
    },
    {
      ...{ ...rule, subject: 'repo:acme/elsewhere:environment:prod' },
      restriction: { addresses: ['192.0.2.0/24'] },
    },
  ],
  oidc: {
    ...{
      issuer: people.url,
      clientId: 'jobcast',
      clientSecret: undefined,
      scopes: 'openid',
      claim: 'groups',
    },
    roles: new Map([
      ['ops', [{ owner: 'default', role: 'operator' as const }]],
      ['north', [{ owner: 'north', role: 'viewer' as const }]],
    ]),
  },
})
await api.call('POST', '/job/api/owners', { body: { ownerName: 'north' } })

const main = 'repo:acme/app:ref:refs/heads/main'

function claimsOf(iss: string, sub: unknown, more: object = {}): Record<string, unknown> {
  const now = Math.floor((Date.now() + passedMs) / 1000)
  return { iss, sub, aud: 'jobcast', iat: now, exp: now + 300, ...more }
}

async function exchange(token: string, more: Record<string, string> = {}) {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    ...more,
  })
  const response = await fetch(`${api.http}/job/api/session/exchange`, { method: 'POST', body: form })
  const json = (await response.json()) as Reply['json']
  return { status: response.status, json }
}

test('a token that matches becomes a key of 15 minutes', async () => {
  const { status, json } = await exchange(await github.sign(claimsOf(github.url, main)))
  const { access_token: key, ...rest } = json
  assert.deepEqual(
    { status, rest },
    {
      status: 200,
      rest: {
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'N_A',
        expires_in: 900,
      },
    },
  )
  const { json: self } = await api.call('GET', '/job/api/keys/self', { key })
  assert.deepEqual([self.scopes, self.name, self.principal], [['TRIGGER'], main, `key:${self.keyId}`])
  const { json: audit } = await api.call('GET', `/job/api/audit?principal=${self.principal}`)
  const [{ action, name, address, after }] = audit.items
  assert.deepEqual([action, name, address], ['session.signed_in', main, '127.0.0.1'])
  assert.deepEqual(after.scopes, ['TRIGGER'])
  await api.putJobAndDevices('restart', ['d1'])
  assert.equal((await api.trigger('restart', ['d1'], { key })).status, 201)
  assert.equal((await api.call('GET', '/job/api/jobs', { key })).status, 403)
  const asCookie = await fetch(`${api.http}/job/api/keys/self`, {
    headers: { cookie: `__Host-jobcast_session=${key}` },
  })
  assert.equal(asCookie.status, 403, 'it is no session of a browser')
  const again = await exchange(await github.sign(claimsOf(github.url, main)))
  const { json: other } = await api.call('GET', '/job/api/keys/self', { key: again.json.access_token })
  assert.equal(other.keyId, self.keyId, 'one key for all jobs of one subject')
  passedMs += 15 * 60_000 + 1
  assert.equal((await api.trigger('restart', ['d1'], { key })).status, 403)
  assert.equal((await api.call('DELETE', `/job/api/keys/${self.keyId}`)).status, 204)
  const revoked = await exchange(await github.sign(claimsOf(github.url, main)))
  assert.deepEqual([revoked.status, revoked.json.code], [403, 'J-802'])
})

test('a rule that is restricted gives a restricted key', async () => {
  await api.putJobAndDevices('narrow-job', ['d1'])
  await api.putJobAndDevices('other-job', [])
  const subject = 'repo:acme/narrow:environment:prod'
  const { json } = await exchange(await github.sign(claimsOf(github.url, subject)))
  const key = json.access_token
  const { json: self } = await api.call('GET', '/job/api/keys/self', { key })
  assert.deepEqual([self.jobs, self.addresses], [['narrow-*'], null])
  assert.equal((await api.trigger('narrow-job', ['d1'], { key })).status, 201)
  assert.equal((await api.trigger('other-job', ['d1'], { key })).json.code, 'J-301')
  assert.equal((await api.call('GET', '/job/api/jobs/other-job', { key })).json.code, 'J-301')
  assert.equal((await api.call('GET', '/job/api/fleet/devices', { key })).json.code, 'J-814')
  const made = await api.call('POST', '/job/api/keys', { key, body: { keyName: 'child', scopes: ['READ'] } })
  assert.deepEqual(made.json.jobs, ['narrow-*'])
  const { json: audit } = await api.call('GET', `/job/api/audit?principal=${self.principal}`)
  const signedIn = audit.items.find(({ action }: { action: string }) => action === 'session.signed_in')
  assert.deepEqual(signedIn.after.jobs, ['narrow-*'])
  const elsewhere = 'repo:acme/elsewhere:environment:prod'
  const refused = await exchange(await github.sign(claimsOf(github.url, elsewhere)))
  assert.deepEqual([refused.status, refused.json.code], [403, 'J-802'])
})

test('a key that a program creates does not outlive its 15 minutes', async () => {
  const subject = 'repo:acme/keys:environment:prod'
  const { json } = await exchange(await github.sign(claimsOf(github.url, subject)))
  const create = (expiresAt?: string) =>
    api.call('POST', '/job/api/keys', {
      key: json.access_token,
      body: { keyName: 'child', scopes: ['MANAGE'], ...(expiresAt && { expiresAt }) },
    })
  const inAnHour = new Date(Date.now() + passedMs + 60 * 60_000).toISOString()
  const later = await create(inAnHour)
  assert.deepEqual([later.status, later.json.code], [400, 'J-500'])
  const child = await create()
  assert.equal(child.status, 201)
  const { apiKey: key, expiresAt } = child.json
  assert.ok(Date.parse(expiresAt) <= Date.now() + passedMs + 15 * 60_000, expiresAt)
  passedMs += 15 * 60_000 + 1
  // Its program comes again, which renews the key of the program only.
  assert.equal((await exchange(await github.sign(claimsOf(github.url, subject)))).status, 200)
  const { status, json: refused } = await api.call('GET', '/job/api/keys/self', { key })
  assert.deepEqual([status, refused.code], [403, 'J-803'])
})

test('a token for another audience does not change what a session may do', async () => {
  const claims = claimsOf(github.url, 'repo:acme/keys:environment:prod')
  const { json: first } = await exchange(await github.sign(claims))
  const { json: second } = await exchange(await github.sign({ ...claims, aud: 'readers' }))
  const scopesOf = async ({ access_token: key }: Reply['json']) =>
    (await api.call('GET', '/job/api/keys/self', { key })).json.scopes
  assert.deepEqual([await scopesOf(first), await scopesOf(second)], [['MANAGE'], ['READ']])
})

test('other scopes in the rule give a program other scopes, and one that is revoked no new key', async () => {
  const asProgram = async (name: string) => {
    const { json } = await exchange(
      await github.sign(claimsOf(github.url, `repo:acme/changing:environment:${name}`)),
    )
    return json.code ?? (await api.call('GET', '/job/api/keys/self', { key: json.access_token })).json
  }
  const good = await asProgram('good')
  const bad = await asProgram('bad')
  assert.equal((await api.call('DELETE', `/job/api/keys/${bad.keyId}`)).status, 204)
  changing.scopes = ['READ']
  const { keyId, scopes } = await asProgram('good')
  assert.deepEqual([keyId, scopes], [good.keyId, ['READ']])
  assert.equal(await asProgram('bad'), 'J-802')
})

const subjects = [
  'repo:acme/app:ref:refs/heads/main2',
  'repo:acme/app:ref:refs/heads/main:x',
  'x:repo:acme/app:ref:refs/heads/main',
  'repo:acme/app:environment:x:ref:refs/heads/main',
  'repo:acme2/app:ref:refs/heads/main',
  'repo:acme/a:b:ref:refs/heads/main',
  'REPO:acme/app:ref:refs/heads/main',
  'repo:acme/lost:environment:prod',
  '',
  7,
]

test('whole subjects match, and parts of them do not', async () => {
  for (const subject of subjects) {
    const { status, json } = await exchange(await github.sign(claimsOf(github.url, subject)))
    assert.deepEqual([status, json.code], [403, 'J-802'], String(subject))
  }
})

test('what is not to be trusted is J-802, whatever it is', async () => {
  const good = claimsOf(github.url, 'repo:acme/b:ref:refs/heads/main')
  const past = Math.floor((Date.now() + passedMs) / 1000) - 120
  const tokens = {
    'another audience': await github.sign({ ...good, aud: 'other' }),
    'no audience': await github.sign({ ...good, aud: undefined }),
    'no expiry': await github.sign({ ...good, exp: undefined }),
    expired: await github.sign({ ...good, exp: past }),
    'alg none': await github.unsigned(good),
    'HS256 with the public key': await github.signByPublicKey(good),
    'a stranger': await github.signByStranger(good),
    'another issuer': await people.sign({ ...good, iss: github.url }),
    'an issuer that nobody trusts': await people.sign({ ...good, iss: 'https://other.example.com' }),
    'the issuer of people': await people.sign({ ...good, iss: people.url }),
    'no token': 'x',
    'no JSON': 'a.b.c',
    null: `a.${Buffer.from('null').toString('base64url')}.c`,
  }
  for (const [what, token] of Object.entries(tokens)) {
    const { status, json } = await exchange(token)
    assert.deepEqual([status, json.code], [403, 'J-802'], what)
  }
  assert.equal((await exchange(await github.sign(good))).status, 200)
})

test('why a token was refused is counted and logged, and the caller does not learn it', async () => {
  const refused = async () => {
    const { text } = await api.call('GET', '/metrics')
    return Number(/^jobcast_exchanges_refused_total (\d+)$/m.exec(text)?.[1])
  }
  const before = await refused()
  const tokens = [
    await github.sign(claimsOf(github.url, 'repo:other/app:ref:refs/heads/main')),
    await github.sign(claimsOf(github.url, main, { aud: 'other' })),
    await people.sign(claimsOf(people.url, 'ana', { groups: ['nobody'] })),
    'x',
  ]
  const answers = await Promise.all(tokens.map(async (token) => JSON.stringify((await exchange(token)).json)))
  assert.deepEqual([...new Set(answers)], answers.slice(0, 1))
  await waitUntil('all are counted', async () => (await refused()) === before + tokens.length)
})

test('a person gets a session as user:<subject>, at the owner that is asked for', async () => {
  const token = await people.sign(claimsOf(people.url, 'ana', { name: 'Ana', groups: ['ops', 'north'] }))
  const selfAt = async (audience?: string) => {
    const { status, json } = await exchange(token, audience ? { audience } : {})
    assert.equal(status, 200, JSON.stringify(json))
    return (await api.call('GET', '/job/api/keys/self', { key: json.access_token })).json
  }
  const first = await selfAt()
  assert.deepEqual([first.principal, first.scopes], ['user:ana', ['TRIGGER', 'READ']])
  assert.deepEqual((await selfAt('north')).scopes, ['READ'])
  assert.equal((await exchange(token, { audience: 'other' })).status, 403)
})

test('only an ID token that was issued to this client just now tells the groups of a person', async () => {
  const seconds = Math.floor((Date.now() + passedMs) / 1000)
  const anHour = { groups: ['ops'], exp: seconds + 3600 }
  const codeOf = async (more: object) =>
    (await exchange(await people.sign(claimsOf(people.url, 'ana', { ...anHour, ...more })))).json.code
  assert.equal(await codeOf({ iat: seconds - 7 * 60 }), 'J-802', 'too old')
  assert.equal(await codeOf({ iat: seconds + 2 * 60 }), 'J-802', 'from the future')
  assert.equal(await codeOf({ iat: undefined }), 'J-802', 'of any age')
  assert.equal(await codeOf({ aud: ['jobcast', 'other'], azp: 'other' }), 'J-802', 'of another client')
  assert.equal(await codeOf({ azp: 'other' }), 'J-802', 'of another client, for us')
  assert.equal(await codeOf({ iat: seconds - 4 * 60, azp: 'jobcast' }), undefined)
})

test('it takes a form, and each field once', async () => {
  const send = (type: string, body: string) =>
    fetch(`${api.http}/job/api/session/exchange`, { method: 'POST', headers: { 'content-type': type }, body })
  const form = 'application/x-www-form-urlencoded'
  assert.equal((await send('application/json', '{}')).status, 415)
  assert.equal((await send(form, '')).status, 400)
  assert.equal((await send(form, 'grant_type=password&subject_token=x')).status, 400)
  assert.equal((await send(form, 'subject_token=a&subject_token=b')).status, 400)
  assert.equal((await send(form, `subject_token=${'a'.repeat(200_000)}`)).status, 413)
  const other = await api.call('PUT', '/job/api/jobs/x', {
    rawBody: 'a=b',
    headers: { 'content-type': form },
  })
  assert.equal(other.status, 415)
})

test('keys of programs take room of the quota while they are valid', async () => {
  const enter = async (name: string) =>
    (await exchange(await github.sign(claimsOf(github.url, `repo:acme/${name}:ref:refs/heads/main`)))).json
      .code
  passedMs += 15 * 60_000 + 1
  assert.equal(await enter('q0'), undefined)
  let entered = 1
  while ((await enter(`q${entered}`)) === undefined) entered++
  assert.equal(entered, 11, 'and the key of the administrator')
  assert.equal(await enter('q0'), undefined, 'it has its room')
  passedMs += 15 * 60_000 + 1
  assert.equal(await enter(`q${entered}`), undefined)
})
