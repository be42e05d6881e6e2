// Commands in CI, with a token of the job in place of a key.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openGithubTokens } from '@jobcast/testkit/github-tokens'
import { openServer } from '@jobcast/testkit/open-server'
import type { FoundAccess } from '../src/service/access.ts'
import { keepFresh } from '../src/service/fresh-access.ts'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openForgingIssuer(ending)
const subject = 'repo:acme/app:ref:refs/heads/main'
const trust = { issuer: issuer.url, audience: 'jobcast', owner: 'default' }
const server = await openServer(ending, {
  oidcTrust: [
    { ...trust, subject, scopes: ['TRIGGER', 'READ'] as Scope[] },
    { ...trust, subject: 'repo:acme/app:environment:*', audience: 'other', scopes: ['READ'] as Scope[] },
  ],
})
const env = { JOBCAST_URL: server.http }

function sign(sub: string, aud = 'jobcast'): Promise<string> {
  const iat = Math.floor(Date.now() / 1000)
  return issuer.sign({ iss: issuer.url, sub, aud, iat, exp: iat + 300 })
}

async function whoami(more: Record<string, string>, ...flags: string[]) {
  const { code, stdout, stderr } = await runJobcast(['whoami', '--json', ...flags], { ...env, ...more })
  return { code, stderr, ...(code === 0 && JSON.parse(stdout)) }
}

test('a token in JOBCAST_ID_TOKEN is exchanged for a key', async () => {
  const { code, name, scopes, keyFrom, stderr } = await whoami({ JOBCAST_ID_TOKEN: await sign(subject) })
  assert.deepEqual(
    { code, stderr, name, scopes, keyFrom },
    { code: 0, stderr: '', name: subject, scopes: ['TRIGGER', 'READ'], keyFrom: 'JOBCAST_ID_TOKEN' },
  )
})

test('a token is read from a file', async (t) => {
  const file = join(dataFolder(t), 'token')
  writeFileSync(file, `${await sign(subject)}\n`)
  assert.equal((await whoami({ JOBCAST_ID_TOKEN_FILE: file })).name, subject)
  const missing = await whoami({ JOBCAST_ID_TOKEN_FILE: `${file}s` })
  assert.equal(missing.code, 2)
  assert.match(
    missing.stderr,
    /^error: cannot read the file that JOBCAST_ID_TOKEN_FILE names: no such file or directory\n/,
  )
})

test('GitHub Actions is asked for a token, for the audience of JOBCAST_ID_TOKEN_AUDIENCE', async (t) => {
  const { env: github } = await openGithubTokens(t, issuer, subject)
  assert.equal((await whoami(github)).keyFrom, 'GitHub Actions')
  const { env: another } = await openGithubTokens(t, issuer, 'repo:acme/app:environment:prod')
  const { scopes } = await whoami({ ...another, JOBCAST_ID_TOKEN_AUDIENCE: 'other' })
  assert.deepEqual(scopes, ['READ'])
  const refused = await whoami({ ...github, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'wrong' })
  assert.equal(refused.code, 3)
  assert.match(refused.stderr, /^jobcast: GitHub Actions issues no token \(status 401\)\.\n/)
  const clear = await whoami({ ...github, ACTIONS_ID_TOKEN_REQUEST_URL: 'http://tokens.example.com/' })
  assert.match(clear.stderr, /is not an https address/)
})

test('a key that is given is used, and GitHub is not asked', async (t) => {
  const { env: github, issued } = await openGithubTokens(t, issuer, subject)
  const token = { ...github, JOBCAST_ID_TOKEN: await sign(subject) }
  assert.equal((await whoami({ ...token, JOBCAST_API_KEY: server.adminKey })).keyFrom, 'JOBCAST_API_KEY')
  assert.equal((await whoami(token, '--api-key', server.adminKey)).keyFrom, '--api-key')
  assert.equal((await whoami(token)).keyFrom, 'JOBCAST_ID_TOKEN')
  assert.deepEqual(issued, [])
})

test('a token that no rule matches is refused, and the message says where it comes from', async () => {
  const { code, stderr } = await whoami({ JOBCAST_ID_TOKEN: await sign('repo:acme/app:pull_request') })
  assert.equal(code, 3)
  assert.match(stderr, /J-802.*\n {2}The service does not accept the token from JOBCAST_ID_TOKEN: compare/)
})

test('what is no token is not sent, and not printed', async () => {
  const { code, stderr } = await whoami({ JOBCAST_ID_TOKEN: 'not-a-secret-to-show' })
  assert.equal(code, 2)
  assert.match(stderr, /^error: what JOBCAST_ID_TOKEN gives is not a token \(JWT\)\n/)
  assert.doesNotMatch(stderr, /secret/)
})

test('a service that does not respond is named', async () => {
  const { code, stderr } = await whoami({
    JOBCAST_URL: 'http://127.0.0.1:1',
    JOBCAST_ID_TOKEN: await sign(subject),
  })
  assert.equal(code, 8)
  assert.match(stderr, /^jobcast: no response from http:\/\/127.0.0.1:1: .*\n {2}The address comes from/)
})

test('a wait continues with another key when the first one has expired', async (t) => {
  await server.putJobAndDevices('patient', ['patient-1'])
  const { env: github, issued } = await openGithubTokens(t, issuer, subject)
  const waiting = startJobcast(t, ['trigger', 'patient', '-d', 'patient-1', '--wait'], { ...env, ...github })
  const [, runId] = await waiting.untilError(/^Run (\d+):/)
  await waiting.untilError(/1 PENDING/)
  // The service and the command share the clock of this process.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 20 * 60_000 })
  assert.equal((await server.call('POST', `/job/api/runs/${runId}/cancel`)).status, 200)
  assert.equal(await waiting.ended, 6, waiting.stderr())
  assert.equal(issued.length, 2)
})

test('a key that can no longer be renewed is used until it expires', async () => {
  const token = { from: 'a test', read: () => Promise.reject(new Error('gone')) }
  const access: FoundAccess = { url: server.http, urlFrom: '', apiKey: undefined, keyFrom: '', token }
  const keyAt = (leftMs: number) =>
    keepFresh(access, {}, { apiKey: 'jc_still-good', expiresAt: Date.now() + leftMs })()
  assert.equal(await keyAt(30_000), 'jc_still-good')
  await assert.rejects(keyAt(-1), /gone/)
})
