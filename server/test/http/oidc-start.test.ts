// Starts with an unreachable or invalid issuer.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'

const publicUrl = 'https://jobcast.test'
const session = '__Host-jobcast_session'

function settingsFor(issuer: string) {
  const client = { clientId: 'jobcast', clientSecret: 'a-secret-of-the-tests' }
  const roles = new Map([['ops', [{ owner: 'default', role: 'operator' as const }]]])
  return { publicUrl, oidc: { issuer, ...client, scopes: 'openid profile', claim: 'groups', roles } }
}

test('a service starts while the issuer cannot be reached: sessions continue, and sign-ins work once it is back', async (t) => {
  const issuer = await openIssuer(t, { publicUrl })
  issuer.person = { sub: 'ana-1', name: 'Ana Pérez', groups: ['ops'] }
  const dataFolder = newDataFolder()
  const first = await openServer(t, { dataFolder, ...settingsFor(issuer.url) })
  removeAfter(t, dataFolder)
  const before = new CookieBrowser({ [publicUrl]: first.http })
  await before.visit(`${publicUrl}/auth/sign-in`, (next) => next === `${publicUrl}/`)
  const cookie = before.cookieOf(publicUrl, session)
  assert.ok(cookie)
  await first.server.stop()

  await issuer.close()
  const again = await openServer(t, { dataFolder, ...settingsFor(issuer.url) })
  assert.equal((await again.call('GET', '/job/api/jobs')).status, 200, 'keys work')
  const signedIn = new CookieBrowser({ [publicUrl]: again.http })
  signedIn.setCookie(publicUrl, session, cookie)
  assert.equal((await signedIn.send(`${publicUrl}/job/api/keys/self`)).status, 200)
  const other = new CookieBrowser({ [publicUrl]: again.http })
  const refused = await other.visit(`${publicUrl}/auth/sign-in`)
  assert.equal(refused.status, 503)
  assert.match(refused.text, /cannot be reached/)

  await issuer.reopen()
  await other.visit(`${publicUrl}/auth/sign-in`, (next) => next === `${publicUrl}/`)
  assert.equal((await other.send(`${publicUrl}/job/api/keys/self`)).status, 200)
})

const wrong: [string, number, object, RegExp][] = [
  ['has no discovery document', 404, {}, /oidc-issuer is http:.*, which cannot be used: /],
  ['says that it is another', 200, { issuer: 'https://other.example.com' }, /which cannot be used: /],
]
for (const [title, status, answer, message] of wrong)
  test(`a service does not start with an issuer that ${title}`, async (t) => {
    const url = await openWrongIssuer(t, status, answer)
    await assert.rejects(openServer(t, settingsFor(url)), message)
  })

test('issuers of oidc-trust are checked at startup: a wrong one is named, and an unavailable one is accepted', async (t) => {
  const ruleFor = (issuer: string) => ({
    ...{ issuer, audience: 'jobcast', subject: 'repo:acme/app:ref:refs/heads/main', owner: 'default' },
    scopes: ['TRIGGER' as const],
  })
  const wrongUrl = await openWrongIssuer(t, 404, {})
  const message = new RegExp(`oidc-trust names the issuer ${wrongUrl}, which cannot be used: `)
  await assert.rejects(openServer(t, { publicUrl, oidcTrust: [ruleFor(wrongUrl)] }), message)
  const away = await openIssuer(t, { publicUrl })
  await away.close()
  const { call } = await openServer(t, { publicUrl, oidcTrust: [ruleFor(away.url)] })
  assert.equal((await call('GET', '/job/api/jobs')).status, 200)
  await away.reopen()
})

async function openWrongIssuer(t: TestContext, status: number, answer: object): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
