// login, logout and profiles.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { ctrlC, openPseudoTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const stdinFlags = ['--url', server.http, '--api-key-stdin']

test('verifies the key from standard input, saves it privately, and uses it from then on', async (t) => {
  const env = { XDG_CONFIG_HOME: join(dataFolder(t), 'config') }
  const login = await runJobcast(['login', ...stdinFlags], env, `${server.adminKey}\n`)
  assert.equal(login.code, 0, login.stderr)
  assert.match(login.stdout, /^owner +ow_\w+$/m)
  assert.match(login.stdout, /^scopes +TRIGGER, READ, MANAGE, APPROVE, AUDIT, ADMIN$/m)
  assert.match(login.stdout, /^expires +never$/m)
  assert.doesNotMatch(login.stdout + login.stderr, /jc_/)

  const folder = join(env.XDG_CONFIG_HOME, 'jobcast')
  assert.deepEqual(readdirSync(folder), ['profiles.json'])
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, 'profiles.json')).mode & 0o777, 0o600)

  const whoami = await runJobcast(['whoami', '--json'], env)
  assert.equal(whoami.code, 0, whoami.stderr)
  const { url, keyName, scopes } = JSON.parse(whoami.stdout)
  assert.deepEqual(
    { url, keyName, scopes },
    {
      url: server.http,
      keyName: 'admin',
      scopes: ['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT', 'ADMIN'],
    },
  )
})

test('at a terminal asks for address and key, and does not echo the key', async (t) => {
  const env = { XDG_CONFIG_HOME: dataFolder(t) }
  const terminal = openPseudoTerminal(t, ['login'], env)
  await terminal.until(/Address of the service \[http:\/\/127\.0\.0\.1:8080\]:$/)
  terminal.press(`${server.http}\r`)
  await terminal.until(/API key \(hidden\):$/)
  terminal.press(`${server.adminKey}\r`)
  assert.equal(await terminal.ended, 0, terminal.screen.text())
  assert.match(terminal.screen.text(), /^Saved profile "default" in /m)
  assert.ok(!terminal.screen.raw.includes(server.adminKey.slice(0, 8)))
  assert.equal((await runJobcast(['whoami'], env)).code, 0)
})

test('Ctrl-C at the question saves nothing and exits with 130', async (t) => {
  const env = { XDG_CONFIG_HOME: dataFolder(t) }
  const terminal = openPseudoTerminal(t, ['login', '--url', server.http], env)
  await terminal.until(/API key \(hidden\):$/)
  terminal.press(`jc_half${ctrlC}`)
  assert.equal(await terminal.ended, 130)
  assert.deepEqual(readdirSync(env.XDG_CONFIG_HOME), [])
})

const refusals = [
  { why: 'a wrong key', input: 'jc_wrong', args: stdinFlags, code: 3, says: /Invalid API key \(J-802\)/ },
  { why: 'an empty key', input: '', args: stdinFlags, code: 2, says: /not an API key/ },
  { why: 'no terminal to ask at', input: '', args: ['--url', server.http], code: 2, says: /--api-key-stdin/ },
  {
    why: 'an invalid address',
    input: 'x',
    args: ['--url', 'ftp://x', '--api-key-stdin'],
    code: 2,
    says: /ftp:/,
  },
  {
    why: 'an unreachable service',
    input: 'jc_x',
    args: ['--url', 'http://127.0.0.1:1', '--api-key-stdin'],
    code: 8,
    says: /no (?:answer|response) /,
  },
]
for (const { why, input, args, code, says } of refusals) {
  test(`login saves nothing and exits with ${code}: ${why}`, async (t) => {
    const env = { XDG_CONFIG_HOME: dataFolder(t) }
    const login = await runJobcast(['login', ...args], env, input)
    assert.equal(login.code, code, login.stderr)
    assert.match(login.stderr, says)
    assert.deepEqual(readdirSync(env.XDG_CONFIG_HOME), [])
  })
}

test('supports several profiles: one is current, and each can be named, selected and deleted', async (t) => {
  const env = { XDG_CONFIG_HOME: dataFolder(t) }
  const { apiKey } = await server.newKey(['READ'], { keyName: 'reader' })
  await runJobcast(['login', '--profile', 'admin', ...stdinFlags], env, server.adminKey)
  await runJobcast(['login', '--profile', 'reader', ...stdinFlags], env, apiKey)
  const keyName = async (...args: string[]) =>
    JSON.parse((await runJobcast(['whoami', '--json', ...args], env)).stdout).keyName
  assert.equal(await keyName(), 'reader')
  assert.equal(await keyName('--profile', 'admin'), 'admin')

  assert.equal((await runJobcast(['profiles', 'use', 'admin'], env)).code, 0)
  const ls = await runJobcast(['profiles', '--json'], env)
  assert.deepEqual(JSON.parse(ls.stdout), [
    { name: 'admin', url: server.http, current: true },
    { name: 'reader', url: server.http, current: false },
  ])
  assert.doesNotMatch(ls.stdout, /jc_/)

  for (const args of [
    ['profiles', 'use', 'nope'],
    ['profiles', 'rm', 'nope'],
    ['whoami', '--profile', 'nope'],
  ]) {
    const unknown = await runJobcast(args, env)
    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /profile "nope" not found/)
  }
  assert.equal((await runJobcast(['profiles', 'rm', 'reader'], env)).code, 0)
  assert.equal((await runJobcast(['logout'], env)).code, 0)
  assert.equal((await runJobcast(['logout'], env)).code, 2)
  const without = await runJobcast(['whoami', '--url', server.http], env)
  assert.equal(without.code, 3)
  assert.match(without.stderr, /jobcast login/)
})

test('refuses a profile file that is readable by others or malformed', async (t) => {
  const env = { XDG_CONFIG_HOME: dataFolder(t) }
  const file = join(env.XDG_CONFIG_HOME, 'jobcast', 'profiles.json')
  await runJobcast(['login', ...stdinFlags], env, server.adminKey)
  chmodSync(file, 0o640)
  const open = await runJobcast(['whoami'], env)
  assert.equal(open.code, 2)
  assert.match(open.stderr, /readable by others \(mode 640\)\. Run: chmod 600/)
  chmodSync(file, 0o600)
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -10))
  const broken = await runJobcast(['whoami'], env)
  assert.equal(broken.code, 2)
  assert.match(broken.stderr, /is malformed\. Fix it, or delete it/)
  const folder = dataFolder(t)
  mkdirSync(join(folder, 'jobcast', 'profiles.json'), { recursive: true })
  assert.equal((await runJobcast(['whoami'], { XDG_CONFIG_HOME: folder })).code, 2)
})
