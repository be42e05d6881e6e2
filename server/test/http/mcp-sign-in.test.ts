// People sign in to their assistants at the issuer: the client of the official SDK finds it, registers and gets a token by
// itself. What others should not get in with is forged below.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const publicUrl = 'https://jobcast.test'
const resource = `${publicUrl}/mcp`
const redirectUrl = 'http://127.0.0.1:9/signed-in'
const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openIssuer(ending, { publicUrl, resource })
const forging = await openForgingIssuer(ending)
let passedMs = 0
const settings = {
  now: () => Date.now() + passedMs,
  publicUrl,
  oidc: {
    ...{ clientId: 'jobcast', clientSecret: issuer.clientSecret, scopes: 'openid profile', claim: 'groups' },
    roles: new Map([
      ['ops', [{ owner: 'default', role: 'operator' as const }]],
      ['north-ops', [{ owner: 'north', role: 'viewer' as const }]],
      ['watchers', [{ owner: 'default', role: 'viewer' as const }]],
    ]),
  },
}
const api = await openServer(ending, { ...settings, oidc: { ...settings.oidc, issuer: issuer.url } })
const forged = await openServer(ending, { ...settings, oidc: { ...settings.oidc, issuer: forging.url } })
for (const server of [api, forged])
  await server.call('POST', '/job/api/owners', { body: { ownerName: 'north' } })

/** What an assistant keeps of its sign-in. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl
  readonly clientMetadata = {
    client_name: 'an assistant',
    redirect_uris: [redirectUrl],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  }
  asked: URL | undefined
  #client: unknown
  #tokens: unknown
  #verifier = ''

  clientInformation = () => this.#client as never
  saveClientInformation(client: unknown): void {
    this.#client = client
  }
  tokens = () => this.#tokens as never
  saveTokens(tokens: unknown): void {
    this.#tokens = tokens
  }
  codeVerifier = () => this.#verifier
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url
  }
  get accessToken(): string {
    return (this.#tokens as { access_token: string }).access_token
  }
}

/** Requests to the public address go to the server of the test. */
const toServer =
  (http: string): typeof fetch =>
  (input, init) =>
    fetch(String(input).replace(publicUrl, http), init)

function transportOf(authProvider: OAuthClientProvider, path = '/mcp') {
  return new StreamableHTTPClientTransport(new URL(publicUrl + path), {
    authProvider,
    fetch: toServer(api.http),
  })
}

async function connect(t: TestContext, transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Parameters<Client['connect']>[0])
  t.after(() => client.close())
  return client
}

async function signIn(
  t: TestContext,
  person: object,
  path?: string,
): Promise<{ assistant: Assistant; client: Client }> {
  issuer.person = { sub: 'ana-1', name: 'Ana Pérez', ...person }
  const assistant = new Assistant()
  const first = transportOf(assistant, path)
  await assert.rejects(connect(t, first), UnauthorizedError)
  assert.equal(assistant.asked?.searchParams.get('resource'), resource)
  const browser = new CookieBrowser({})
  const { url } = await browser.visit(assistant.asked.href, (next) => next.startsWith(redirectUrl))
  await first.finishAuth(new URL(url).searchParams.get('code') ?? assert.fail(url))
  return { assistant, client: await connect(t, transportOf(assistant, path)) }
}

const toolsOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

async function callMcp(server: typeof api, headers: Record<string, string>, path = '/mcp') {
  const response = await fetch(server.http + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  const { status, headers: answered } = response
  return {
    status,
    challenge: answered.get('www-authenticate'),
    json: (await response.json()) as Reply['json'],
  }
}

test('an assistant finds the issuer, signs the person in, and acts as the person', async (t) => {
  const { assistant, client } = await signIn(t, { groups: ['ops'] })
  const tools = await toolsOf(client)
  assert.ok(tools.includes('plan_run') && !tools.includes('cancel_run'), tools.join())
  await api.putJobAndDevices('restart', ['d1'])
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    assert.ok(!isError, JSON.stringify(content))
    return JSON.parse((content as { text: string }[])[1]?.text ?? '')
  }
  const { planId } = await call('plan_run', { jobName: 'restart', targets: { deviceIds: ['d1'] } })
  const { runId } = await call('start_plan', { planId })
  const { json: run } = await api.call('GET', `/job/api/runs/${runId}`)
  assert.deepEqual([run.createdBy, run.createdByName], ['user:ana-1', 'Ana Pérez'])
  const { json } = await api.call('GET', '/job/api/sessions')
  assert.equal(json.items.length, 1, 'one session for all requests')
  const [{ sessionId }] = json.items
  await api.call('DELETE', `/job/api/sessions/${sessionId}`)
  const ended = await callMcp(api, { authorization: `Bearer ${assistant.accessToken}` })
  assert.deepEqual([ended.status, ended.json.code], [401, 'J-815'], 'the token does not get another session')
})

test('a token is only good at /mcp, and only as a bearer token', async (t) => {
  const { assistant } = await signIn(t, { sub: 'ben-2', groups: ['ops'] })
  const { accessToken } = assistant
  const asKey = await api.call('GET', '/job/api/keys/self', { key: accessToken })
  const asBearer = await fetch(`${api.http}/job/api/keys/self`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })
  assert.deepEqual([asKey.status, asBearer.status], [403, 403])
  assert.equal((await callMcp(api, { 'x-api-key': accessToken })).status, 403)
})

test('?owner= selects the owner of a person who has roles at several', async (t) => {
  const groups = ['ops', 'north-ops']
  const { client } = await signIn(t, { sub: 'eva-3', groups }, '/mcp?owner=north')
  assert.ok(!(await toolsOf(client)).includes('plan_run'))
  const { client: atDefault } = await signIn(t, { sub: 'eva-3', groups })
  assert.ok((await toolsOf(atDefault)).includes('plan_run'))
})

test('the metadata names the issuer; without an issuer there is none, and no challenge', async (t) => {
  for (const path of ['', '/mcp']) {
    const { json } = await api.call('GET', `/.well-known/oauth-protected-resource${path}`)
    assert.deepEqual(json, {
      resource,
      authorization_servers: [issuer.url],
      scopes_supported: ['openid', 'profile'],
      bearer_methods_supported: ['header'],
      resource_name: 'Jobcast',
    })
  }
  const { status, challenge, json } = await callMcp(api, {})
  assert.deepEqual([status, json.code], [401, 'J-815'])
  const metadata = `${publicUrl}/.well-known/oauth-protected-resource/mcp`
  assert.equal(challenge, `Bearer resource_metadata="${metadata}", scope="openid profile"`)
  assert.equal((await callMcp(api, { 'x-api-key': 'wrong' })).status, 403)
  const without = await openServer(t)
  const { status: missing } = await without.call('GET', '/.well-known/oauth-protected-resource')
  const { status: refused, challenge: none } = await callMcp(without, {})
  assert.deepEqual([missing, refused, none], [404, 403, null])
})

type Claims = Record<string, unknown>
const seconds = () => Math.floor((Date.now() + passedMs) / 1000)

function goodClaims(): Claims {
  const now = seconds()
  return { iss: forging.url, sub: 'ana', aud: resource, iat: now, exp: now + 300, groups: ['ops'] }
}

const bearer = async (token: string | Promise<string>, path?: string) =>
  callMcp(forged, { authorization: `Bearer ${await token}` }, path)
const withClaims = (changed: Claims) => forging.sign({ ...goodClaims(), ...changed })

test('a token as it should be is accepted, until it is too old for its groups', async () => {
  const token = await withClaims({ exp: seconds() + 4 * 3600 })
  assert.equal((await bearer(token)).status, 200)
  passedMs += 59 * 60_000
  assert.equal((await bearer(token)).status, 200)
  passedMs += 2 * 60_000
  const { status, challenge } = await bearer(token)
  assert.equal(status, 401)
  assert.match(challenge ?? '', /^Bearer error="invalid_token", resource_metadata=/)
})

const refused: Record<string, () => Promise<string>> = {
  'for another audience': () => withClaims({ aud: 'https://other.example.com/mcp' }),
  'for our client, as an ID token is': () => withClaims({ aud: 'jobcast' }),
  'without an audience': () => withClaims({ aud: undefined }),
  'of another issuer': () => withClaims({ iss: 'https://other.example.com' }),
  'that has expired': () => withClaims({ exp: seconds() - 90 }),
  'without an expiry': () => withClaims({ exp: undefined }),
  'without the time of its issue': () => withClaims({ iat: undefined }),
  'without a subject': () => withClaims({ sub: undefined }),
  'signed by others': () => forging.signByStranger(goodClaims()),
  'without a signature': async () => `${await forging.unsigned(goodClaims())}AAAA`,
}

for (const [what, token] of Object.entries(refused))
  test(`a token ${what} is refused with a challenge`, async () => {
    const { status, challenge, json } = await bearer(token())
    assert.deepEqual([status, json.code], [401, 'J-815'])
    assert.match(challenge ?? '', /^Bearer error="invalid_token", /)
  })

test('a person without a role is refused, and no other token would help', async () => {
  const { status, challenge, json } = await bearer(withClaims({ groups: ['others'] }))
  assert.deepEqual([status, json.code, challenge], [403, 'J-802', null])
  assert.equal((await bearer(withClaims({}), '/mcp?owner=north')).status, 403)
})

test('a session that was ended does not come back under another name of its owner', async () => {
  const token = await withClaims({ sub: 'gil' })
  assert.equal((await bearer(token)).status, 200)
  const { json } = await forged.call('GET', '/job/api/sessions?limit=200')
  const session = json.items.find(({ createdBy, ...each }: Claims) => JSON.stringify(each).includes('gil'))
  const ended = await forged.call('DELETE', `/job/api/sessions/${session.sessionId}`)
  assert.equal(ended.status, 204)
  const paths = ['/mcp', '/mcp?owner=default', `/mcp?owner=${session.ownerId}`]
  const answers = await Promise.all(paths.map((path) => bearer(token, path)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401],
  )
})

test('a token from before the groups were read again gives no role back', async () => {
  const toolsWith = async (token: string) => {
    const { json } = await bearer(token)
    return json.result.tools.map(({ name }: { name: string }) => name)
  }
  const earlier = await withClaims({ sub: 'ivo', iat: seconds() - 600, groups: ['ops'] })
  const later = await withClaims({ sub: 'ivo', groups: ['watchers'] })
  for (const token of [later, earlier, later]) assert.ok(!(await toolsWith(token)).includes('plan_run'))
})
