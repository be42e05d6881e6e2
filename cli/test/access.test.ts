// Where the address and the key come from, and the errors when they do not work.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { dataFolder, runJobcast, startJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const { http, adminKey } = server
/** A port without a listener. */
const unreachable = `http://127.0.0.1:${await freePort()}`

function withProfiles(t: TestContext, current: string, profiles: object): Record<string, string> {
  const folder = dataFolder(t)
  mkdirSync(join(folder, 'jobcast'))
  const file = join(folder, 'jobcast', 'profiles.json')
  writeFileSync(file, JSON.stringify({ current, profiles }), { mode: 0o600 })
  return { XDG_CONFIG_HOME: folder }
}

async function codeOf(args: string[], env: Record<string, string>) {
  const { code, stderr } = await runJobcast(['runs', 'ls', ...args], env)
  return { code, stderr }
}

test('flags take precedence over the environment, the environment over a profile', async (t) => {
  const good = { url: http, apiKey: adminKey }
  const bad = { url: unreachable, apiKey: 'jc_wrong' }
  const env = withProfiles(t, 'good', { good, bad })
  assert.equal((await codeOf([], env)).code, 0)
  const wrongKey = await codeOf([], { ...env, JOBCAST_API_KEY: 'jc_wrong' })
  assert.equal(wrongKey.code, 3)
  assert.match(
    wrongKey.stderr,
    /^jobcast: Invalid API key \(J-802\)\n {2}The key comes from JOBCAST_API_KEY\.\n$/,
  )
  const flagged = await codeOf(['--api-key', adminKey], { ...env, JOBCAST_API_KEY: 'jc_wrong' })
  assert.equal(flagged.code, 0, flagged.stderr)
  // A profile named on the command line takes precedence over the environment.
  const named = await codeOf(['--profile', 'good'], {
    ...env,
    JOBCAST_URL: unreachable,
    JOBCAST_API_KEY: 'jc_wrong',
  })
  assert.equal(named.code, 0, named.stderr)
  assert.equal((await codeOf([], { ...env, JOBCAST_PROFILE: 'bad' })).code, 8)
})

test('the key of a profile is sent to no other address', async (t) => {
  const seen: unknown[] = []
  const stranger = createServer((request, response) => {
    seen.push(request.headers['x-api-key'])
    response.end()
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  t.after(() => stranger.close())
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  const env = withProfiles(t, 'mine', { mine: { url: http, apiKey: adminKey } })
  const { code, stderr } = await codeOf(['--url', url], env)
  assert.equal(code, 3)
  assert.match(stderr, /^jobcast: No API key for http.*\n {2}Use --api-key/)
  assert.deepEqual(seen, [])
})

test('exits with 3 without a key, and says how to give one', async () => {
  const { code, stderr } = await codeOf([], {})
  assert.equal(code, 3)
  assert.match(stderr, /Use --api-key, set JOBCAST_API_KEY, or run: jobcast login\n$/)
})

test('exits with 3 if the key lacks a scope, and names the run that was created', async () => {
  await server.putJobAndDevices('scope', ['scope-1'])
  const { apiKey } = await server.newKey(['TRIGGER'])
  const args = ['trigger', 'scope', '-d', 'scope-1', '--wait']
  const { code, stderr } = await runJobcast(args, { JOBCAST_URL: http, JOBCAST_API_KEY: apiKey })
  assert.equal(code, 3)
  assert.match(stderr, /^Run \d+: scope on 1 device\njobcast: .*required permission \(J-804\): READ/)
})

test('exits with 8 if the address does not respond, and says which and where it comes from', async () => {
  const { code, stderr } = await codeOf(['--api-key', 'jc_any'], { JOBCAST_URL: unreachable })
  assert.equal(code, 8)
  assert.match(
    stderr,
    /^jobcast: no response from http:\S+: .*ECONNREFUSED.*\n {2}The address comes from JOBCAST_URL/,
  )
})

test('exits with 2 for an invalid address and for an unknown profile', async () => {
  const wrong = await codeOf(['--url', 'jobs.example'], { JOBCAST_API_KEY: 'jc_any' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^error: the address "jobs\.example" \(--url\) is not valid; it must be like/)
  const missing = await codeOf(['--profile', 'nope'], {})
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /^error: profile "nope" not found/)
})

test('exits with 8 if another service responds: its 404 does not mean "not found"', async (t) => {
  const other = createServer((_, response) => response.writeHead(404).end('<html>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close())
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const { code, stderr } = await codeOf(['--url', url], { JOBCAST_API_KEY: 'jc_any' })
  assert.equal(code, 8)
  assert.match(stderr, /answered 404 without an error code/)
})

test('keeps waiting while the service is unreachable, and says so', async (t) => {
  const folder = dataFolder(t)
  // Not one that the system gives to anybody who connects while the service is away.
  const port = await freePort()
  const first = await openServer(t, { dataFolder: folder, port })
  await first.putJobAndDevices('away', ['away-1'])
  const env = { JOBCAST_URL: first.http, JOBCAST_API_KEY: first.adminKey }
  const waiting = startJobcast(t, ['trigger', 'away', '-d', 'away-1', '--wait'], env)
  await waiting.untilError(/1 PENDING/)
  await first.server.stop()
  await waiting.untilError(/^No response from http:\S+ \(.+\); still waiting\.$/m)
  const second = await openServer(t, { dataFolder: folder, port })
  await waiting.untilError(/^The service is reachable again\.$/m)
  await second.call('POST', '/job/api/runs/1/cancel')
  assert.equal(await waiting.ended, 6)
})

test('keys are restricted by --job, --where and --address, and shown with that', async () => {
  const env = { JOBCAST_URL: http, JOBCAST_API_KEY: adminKey }
  const flags = [
    '--scope',
    'READ',
    '--job',
    'restart',
    '--job',
    'update-*',
    '--where',
    'tag=a',
    '--address',
    '127.0.0.0/8',
  ]
  const { code, stdout } = await runJobcast(['keys', 'create', 'narrow', ...flags], env)
  assert.equal(code, 0)
  const narrow = { ...env, JOBCAST_API_KEY: stdout.trim() }
  const shown = /jobs restart, update-\*; devices tag=a; addresses 127\.0\.0\.0\/8/
  assert.match((await runJobcast(['keys'], env)).stdout, shown)
  assert.match((await runJobcast(['whoami'], narrow)).stdout, shown)
  const refused = await runJobcast(['bridges'], narrow)
  assert.equal(refused.code, 3)
  assert.match(refused.stderr, /A restricted API key cannot be used for this/)
})

test('https on a port without TLS says so, and what to use', async () => {
  const { code, stderr } = await codeOf(['--url', http.replace('http:', 'https:')], {
    JOBCAST_API_KEY: adminKey,
  })
  assert.equal(code, 8)
  assert.match(
    stderr,
    /^jobcast: no response from https:.*: this port does not use TLS; use .* http: instead of https:/,
  )
  assert.doesNotMatch(stderr, /openssl/i)
})
