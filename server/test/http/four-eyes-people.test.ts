// Four eyes for people: a person is one principal over all their sessions, in the browser and of the command line, and over all
// keys that come from them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { replyOf } from '@jobcast/testkit/call-api'
import { CookieBrowser } from '@jobcast/testkit/cookie-browser'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { gate, patch, post, type Send, tryAllBy, weakened, whileWaiting } from './four-eyes-calls.ts'
import { openRolledRuns } from './rolled-runs.ts'

const publicUrl = 'https://jobcast.test'
const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openIssuer(ending, { publicUrl, isPublic: true })
const { url, clientId } = issuer
const at = (role: 'manager' | 'approver' | 'admin') => [{ owner: 'default', role }]
const api = await openServer(ending, {
  publicUrl,
  oidc: {
    ...{ issuer: url, clientId, clientSecret: undefined, scopes: 'openid profile email', claim: 'groups' },
    roles: new Map([
      ['managers', at('manager')],
      ['approvers', at('approver')],
      ['admins', at('admin')],
    ]),
  },
})
const { ids, runOf, waitFor } = await openRolledRuns(api, 'person', 4)

const all = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE'] as const
const people = {
  ana: { sub: 'ana', name: 'Ana', groups: ['managers', 'approvers'] },
  ben: { sub: 'ben', name: 'Ben', groups: ['managers', 'approvers', 'admins'] },
  cleo: { sub: 'cleo', name: 'Cleo', groups: ['managers', 'approvers'] },
}
type Person = keyof typeof people

const byKey =
  (key: string): Send =>
  (method, path, body) =>
    api.call(method, `/job/api/${path}`, { key, ...(body && { body }) })

/** A session of its own, in a browser of its own. */
async function signIn(person: Person): Promise<Send> {
  issuer.person = people[person]
  const browser = new CookieBrowser({ [publicUrl]: api.http })
  const visit = await browser.visit(`${publicUrl}/auth/sign-in`, (next) => next === `${publicUrl}/`)
  assert.equal(visit.url, `${publicUrl}/`, visit.text)
  return async (method, path, body) => {
    const { status, text, headers } = await browser.send(`${publicUrl}/job/api/${path}`, {
      method,
      headers: { origin: api.http, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return replyOf(new Response(status === 204 ? null : text, { status, headers }))
  }
}

/** As `jobcast login` does: the person enters a code, and the ID token is exchanged. */
async function signInByCode(person: Person): Promise<Send> {
  issuer.person = people[person]
  const form = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: clientId, ...fields })
    const reply = await fetch(new URL(path, url), { method: 'POST', body })
    return (await reply.json()) as Record<string, string>
  }
  const asked = await form('/device/auth', { scope: 'openid profile email' })
  const browser = new CookieBrowser({})
  const page = await browser.visit(asked.verification_uri_complete ?? '')
  const fields = Array.from(page.text.matchAll(/name="(\w+)" value="([^"]*)"/g), ([, name, value]) => [
    name,
    value,
  ])
  const sent = await browser.send(`${url}/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...Object.fromEntries(fields), confirm: 'yes' }).toString(),
  })
  const next = sent.headers.get('location')
  if (next !== null) await browser.visit(new URL(next, url).href)
  const grant = 'urn:ietf:params:oauth:grant-type:device_code'
  const tokens = await form('/token', { grant_type: grant, device_code: asked.device_code ?? '' })
  const exchanged = await fetch(`${api.http}/job/api/session/exchange`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: tokens.id_token ?? '',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      access_token: tokens.access_token ?? '',
    }),
  })
  const { access_token: key, ...refused } = (await exchanged.json()) as { access_token: string }
  assert.equal(exchanged.status, 200, JSON.stringify(refused))
  return byKey(key)
}

async function keyBy(creator: Send, scopes: readonly string[] = all): Promise<Send> {
  const created = await creator('POST', 'keys', { keyName: 'made by a person', scopes })
  assert.equal(created.status, 201, created.text)
  return byKey(created.json.apiKey)
}

const ana = await signIn('ana')
const anaElsewhere = await signIn('ana')
const anaByCode = await signInByCode('ana')
const ben = await signIn('ben')
const benElsewhere = await signIn('ben')
const cleo = await signIn('cleo')
const keyOfAna = await keyBy(ana)

/** Ana puts the schedule and Ben changes its run. */
const hands: Record<string, Send> = {
  'the session that put the schedule': ana,
  'another session of the same person': anaElsewhere,
  'a sign-in at the command line by the same person': anaByCode,
  'a key made in the session': keyOfAna,
  'a key made in another session': await keyBy(anaElsewhere),
  'a key made at the command line': await keyBy(anaByCode),
  'a key made by a key of the person': await keyBy(keyOfAna),
  'the session that changed the run': ben,
  'another session of who changed it': benElsewhere,
  'a key made in a session of an administrator who changed it': await keyBy(benElsewhere),
  'a key made by an ADMIN key of who changed it': await keyBy(await keyBy(ben, [...all, 'ADMIN'])),
}

async function launch(name: string, more: object): Promise<{ runId: number; path: string }> {
  await ana('PUT', `jobs/${name}`, {})
  const when = { at: '2099-01-01T00:00:00Z' }
  const content = { jobName: name, targets: { deviceIds: ids }, when, ...more }
  const put = await ana('PUT', `schedules/${name}`, content)
  assert.equal(put.status, 201, put.text)
  const fired = await ben('POST', `schedules/${name}/fire`)
  assert.equal(fired.status, 201, fired.text)
  const { runId } = fired.json
  assert.equal((await patch({ ratePerMinute: 60_000 })(ben, runId)).status, 200)
  return { runId, path: `/job/api/runs/${runId}` }
}

test('each session belongs to one of three people', async () => {
  const principals = await Promise.all(
    [ana, anaElsewhere, anaByCode, ben, cleo].map(
      async (send) => (await send('GET', 'keys/self')).json.principal,
    ),
  )
  assert.deepEqual(principals, ['user:ana', 'user:ana', 'user:ana', 'user:ben', 'user:cleo'])
})

test('before its first approval nobody involved in a run can let it begin, in any session or by any key', async () => {
  const waves = [{ size: 1 }, { size: '100%' }]
  const { runId, path } = await launch('begin', { approval: true, rollout: { waves } })
  await tryAllBy(hands, whileWaiting, runId)
  const { rollout } = await runOf(path)
  assert.deepEqual([rollout?.state, rollout?.released], ['AWAITING_APPROVAL', 0])
  const approved = await post('approve')(cleo, runId)
  assert.deepEqual([approved.status, approved.json.rollout.state], [200, 'ROLLING_OUT'], approved.text)
  assert.equal(approved.json.approvals[0].name, 'Cleo')
  await waitFor(path, 1)
  await api.call('POST', `${path}/cancel`)
})

test('nobody involved in a run can pass a gate with approval, in any session or by any key', async () => {
  const { runId, path } = await launch('gated', { rollout: gate })
  await waitFor(path, 1)
  await tryAllBy(hands, [...weakened, ['approve', post('approve'), 'J-810']], runId)
  const advanced = await post('advance')(anaElsewhere, runId)
  assert.deepEqual([advanced.status, advanced.json.rollout.state], [200, 'AWAITING_APPROVAL'], advanced.text)
  await tryAllBy(hands, [...whileWaiting, ...weakened], runId)
  assert.equal((await runOf(path)).rollout?.released, 1)
  assert.equal((await post('approve')(cleo, runId)).status, 200)
  await waitFor(path, 2)
  await api.call('POST', `${path}/cancel`)
})

test('a person decides once, over all sessions and keys', async () => {
  const { runId, path } = await launch('twice', { approval: { required: 2 } })
  const cleoElsewhere = await signIn('cleo')
  const keyOfCleo = await keyBy(cleoElsewhere)
  assert.equal((await post('approve')(cleo, runId)).json.rollout.state, 'AWAITING_APPROVAL')
  for (const send of [cleo, cleoElsewhere, keyOfCleo, await signInByCode('cleo')])
    assert.equal((await post('approve')(send, runId)).json.code, 'J-303')
  assert.equal((await api.call('POST', `${path}/approve`, { body: {} })).status, 200)
  await waitFor(path, 4, 'RELEASED')
  await api.call('POST', `${path}/cancel`)
})
