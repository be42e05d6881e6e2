// login at an issuer by a code that is entered in a browser, whoami, renewal and logout.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { discover } from '../src/service/person-login.ts'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const ending = { after: (close: () => unknown) => after(close) }
const publicUrl = 'https://jobcast.test'
const issuer = await openIssuer(ending, { publicUrl, isPublic: true })
issuer.person = { sub: 'ana-1', name: 'Ana Pérez', email: 'ana@example.com', groups: ['ops'] }
const { url, clientId } = issuer
const server = await openServer(ending, {
  publicUrl,
  oidc: {
    ...{ issuer: url, clientId, clientSecret: undefined, scopes: 'openid profile email', claim: 'groups' },
    roles: new Map([['ops', [{ owner: 'default', role: 'operator' as const }]]]),
  },
})

/** What a person does in the browser. */
async function enterCode(address: string): Promise<void> {
  const browser = new CookieBrowser({})
  const page = await browser.visit(address)
  const fields = Array.from(
    page.text.matchAll(/name="(\w+)" value="([^"]*)"/g),
    ([, name = '', value = '']) => [name, value],
  )
  const body = new URLSearchParams({ ...Object.fromEntries(fields), confirm: 'yes' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const sent = await browser.send(new URL('/device', url).href, {
    method: 'POST',
    headers,
    body: body.toString(),
  })
  const next = sent.headers.get('location')
  const last = next === null ? sent : await browser.visit(new URL(next, url).href)
  assert.equal(last.status, 200, last.text)
}

test('login by code, whoami, a key that is renewed, logout', async (t) => {
  const env = { XDG_CONFIG_HOME: join(dataFolder(t), 'config') }
  const login = startJobcast(t, ['login', '--url', server.http], env)
  const [, address = ''] = await login.untilError(/or open (\S+)/)
  await enterCode(address)
  assert.equal(await login.ended, 0, login.stderr())
  assert.match(login.stdout(), /^person +Ana Pérez \(ana@example.com\)$/m)
  const file = join(env.XDG_CONFIG_HOME, 'jobcast', 'profiles.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)

  const whoami = await runJobcast(['whoami', '--json'], env)
  const { principal, name, email, scopes } = JSON.parse(whoami.stdout)
  assert.deepEqual(
    [principal, name, email, scopes],
    ['user:ana-1', 'Ana Pérez', 'ana@example.com', ['TRIGGER', 'READ']],
  )

  const saved = JSON.parse(readFileSync(file, 'utf8'))
  const before = saved.profiles.default.apiKey
  saved.profiles.default.person.expiresAt = Date.now()
  writeFileSync(file, JSON.stringify(saved))
  const refreshes = issuer.refreshes
  const codes = await Promise.all([1, 2, 3].map(async () => (await runJobcast(['whoami'], env)).code))
  assert.deepEqual(codes, [0, 0, 0])
  assert.equal(issuer.refreshes, refreshes + 1, 'one command renews the key for all')
  assert.notEqual(JSON.parse(readFileSync(file, 'utf8')).profiles.default.apiKey, before)

  const expired = JSON.parse(readFileSync(file, 'utf8'))
  expired.profiles.default.person.expiresAt = Date.now()
  const logout = await runJobcast(['logout'], env)
  assert.match(logout.stderr, /You are signed out/)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).profiles, {})
  assert.deepEqual(readdirSync(join(env.XDG_CONFIG_HOME, 'jobcast')), ['profiles.json'])

  // Whoever kept a copy of the file has a refresh token that is void.
  writeFileSync(file, JSON.stringify(expired))
  const late = await runJobcast(['whoami'], env)
  assert.notEqual(late.code, 0)
  assert.match(late.stderr, /refused the sign-in.*invalid_grant.*jobcast login/)
})

test('a key is used where the person wants it', async (t) => {
  const env = { XDG_CONFIG_HOME: join(dataFolder(t), 'config') }
  const login = await runJobcast(['login', '--url', server.http, '--api-key-stdin'], env, server.adminKey)
  assert.equal(login.code, 0, login.stderr)
  assert.match(login.stdout, /^key +admin/m)
})

test('an issuer in clear text on another machine is not asked', async () => {
  const person = { issuer: 'http://login.example.com', clientId }
  await assert.rejects(discover(person), { code: 'OAUTH_HTTP_REQUEST_FORBIDDEN' })
})
