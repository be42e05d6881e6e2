// jobcast doctor: its checks and exit codes.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { certificates } from '@jobcast/testkit/certificates'
import { openIssuer } from '@jobcast/testkit/issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { dataFolder, type Finished, runJobcast } from './run-jobcast.ts'
import { spawnToEnd } from './spawn-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

/** The findings by check, and the complete output. */
async function examine(args: string[] = [], env: Record<string, string> = access) {
  return read(await runJobcast(['doctor', '--json', ...args], env))
}

function read({ code, stdout, stderr }: Finished) {
  assert.notEqual(stdout, '', stderr)
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean
    checks: { check: string; mark: string; text: string }[]
  }
  const of = (name: string) => checks.find(({ check }) => check === name)
  return { code, ok, checks: checks.map(({ check }) => check), of, text: stdout }
}

test('exits with 0 if every check is ok', async () => {
  const { code, stdout, stderr } = await runJobcast(['doctor', '--data', server.folder], access)
  assert.equal(code, 0, stdout + stderr)
  const lines = [
    /^✓ node +v\d+/m,
    /^✓ in use +a service is using it$/m,
    /^✓ readers /m,
    /^✓ integrity +the database is intact$/m,
    /^[✓!] disk space +\d+ MiB free/m,
    /^✓ address +http:.*, from JOBCAST_URL$/m,
    /^✓ name +127\.0\.0\.1 resolves to /m,
    /^✓ port /m,
    /^✓ encryption +none, and none is needed/m,
    /^✓ alive /m,
    /^✓ ready /m,
    /^✓ version +\d+\.\d+\.\d+, both the service and this program$/m,
    /^✓ clock /m,
    /^✓ key +"admin" of owner ow_\w+, from JOBCAST_API_KEY, scopes: TRIGGER, READ, MANAGE, APPROVE, AUDIT, ADMIN; it does not expire$/m,
    /^✓ events +arrive without delay$/m,
  ]
  for (const line of lines) assert.match(stdout, line)
  assert.doesNotMatch(stdout, /jc_/)
  assert.equal((await examine()).ok, true)
})

test('exits with 3 for an invalid or missing key, and warns about one that expires soon', async () => {
  const wrong = await examine([], { ...access, JOBCAST_API_KEY: 'jc_wrong' })
  assert.deepEqual([wrong.code, wrong.of('key')?.mark, wrong.of('alive')?.mark], [3, 'problem', 'ok'])
  const missing = await examine([], { JOBCAST_URL: server.http })
  assert.deepEqual([missing.code, missing.of('key')?.mark], [3, 'problem'])
  const expiresAt = new Date(Date.now() + 3.5 * 86_400_000).toISOString()
  const { apiKey } = await server.newKey(['TRIGGER'], { expiresAt })
  const soon = await examine([], { ...access, JOBCAST_API_KEY: apiKey })
  assert.deepEqual([soon.code, soon.of('key')?.mark, soon.of('events')?.mark], [0, 'warning', 'warning'])
  assert.match(soon.of('key')?.text ?? '', /expires in 3 days/)
})

test('checks the issuer that people sign in at', async (t) => {
  const publicUrl = 'https://jobcast.test'
  const issuer = await openIssuer(t, { publicUrl })
  const { url, clientId, clientSecret } = issuer
  const settings = { issuer: url, clientId, clientSecret, scopes: 'openid', claim: 'groups' }
  const roles = new Map([['ops', [{ owner: 'default', role: 'operator' as const }]]])
  const { http, adminKey } = await openServer(t, { publicUrl, oidc: { ...settings, roles } })
  const env = { JOBCAST_URL: http, JOBCAST_API_KEY: adminKey }
  const good = await examine([], env)
  assert.deepEqual([good.code, good.of('issuer')?.text], [0, `people sign in at ${url}`])
  assert.equal((await examine()).of('issuer'), undefined, 'without one there is nothing to check')
  issuer.isDown = true
  const down = await examine([], env)
  assert.deepEqual([down.code, down.of('issuer')?.mark, down.of('key')?.mark], [0, 'warning', 'ok'])
  await issuer.close()
  assert.equal((await examine([], env)).of('issuer')?.mark, 'warning')
})

test('exits with 8 and stops for a closed port, an unknown host and another service', async (t) => {
  const unreachable = await examine(['--url', 'http://127.0.0.1:1'])
  assert.deepEqual(
    [unreachable.code, unreachable.checks.at(-1), unreachable.of('port')?.mark],
    [8, 'port', 'problem'],
  )
  const noName = await examine(['--url', 'http://no-such-name.invalid'])
  assert.deepEqual([noName.code, noName.checks.at(-1)], [8, 'name'])
  const other = createServer((_request, response) => response.end('<html>')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const wrong = await examine(['--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`])
  assert.deepEqual([wrong.code, wrong.checks.at(-1)], [8, 'alive'])
  assert.match(wrong.of('alive')?.text ?? '', /not from Jobcast/)
})

/** Buffers whole responses, so a stream never arrives. Its clock is an hour slow. */
async function openBufferingProxy(t: TestContext): Promise<string> {
  const proxy = createServer(async (request, response) => {
    if (request.url === '/job/api/events') return response.flushHeaders()
    const key = String(request.headers['x-api-key'] ?? '')
    const answer = await fetch(server.http + request.url, { headers: { 'x-api-key': key } })
    const date = new Date(Date.now() - 3_600_000).toUTCString()
    return response.writeHead(answer.status, { date }).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test('finds a proxy that buffers events, and a wrong clock', async (t) => {
  const { code, of } = await examine(['--url', await openBufferingProxy(t)])
  assert.equal(code, 8)
  assert.equal(of('events')?.mark, 'problem')
  assert.match(of('events')?.text ?? '', /a proxy may be buffering them/)
  assert.equal(of('clock')?.mark, 'warning')
  assert.match(of('clock')?.text ?? '', /\b3[56]\d\d s;/)
  assert.equal(of('key')?.mark, 'ok')
})

test('checks whether a certificate is trusted, and its remaining days', async (t) => {
  const tls = {
    cert: readFileSync(certificates.serverCert, 'utf8'),
    key: readFileSync(certificates.serverKey, 'utf8'),
  }
  const secure = await openServer(t, { tls })
  const env = { JOBCAST_URL: secure.http, JOBCAST_API_KEY: secure.adminKey }
  const untrusted = await examine([], env)
  assert.deepEqual([untrusted.code, untrusted.checks.at(-1)], [8, 'encryption'])
  assert.match(untrusted.of('encryption')?.text ?? '', /not trusted .*NODE_EXTRA_CA_CERTS/)
  // Node reads this variable when it starts.
  const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificates.ca }
  const trusted = read(await spawnToEnd(t, ['doctor', '--json'], trusting))
  assert.equal(trusted.code, 0, trusted.text)
  // The test certificates are valid for a day.
  assert.equal(trusted.of('encryption')?.mark, 'warning')
  assert.match(
    trusted.of('encryption')?.text ?? '',
    /TLSv1\.3, the certificate is valid for 0 more days: renew it/,
  )
  assert.equal(trusted.of('events')?.mark, 'ok')
})

test('finds a data folder that is missing, damaged or readable by others', async (t) => {
  const missing = await examine(['--data', '/nowhere'])
  assert.deepEqual([missing.code, missing.of('data')?.mark, missing.of('key')?.mark], [4, 'problem', 'ok'])

  const folder = dataFolder(t)
  mkdirSync(join(folder, 'data'), { mode: 0o755 })
  const stopped = await openServer(t, { dataFolder: join(folder, 'data') })
  await stopped.server.stop()
  chmodSync(stopped.folder, 0o755)
  chmodSync(join(stopped.folder, 'jobcast.db'), 0o644)
  const open = await examine(['--data', stopped.folder])
  assert.equal(open.code, 0, open.text)
  assert.equal(open.of('readers')?.mark, 'warning')
  assert.match(open.of('in use')?.text ?? '', /^no service is using it$/)

  const database = join(stopped.folder, 'jobcast.db')
  const bytes = readFileSync(database)
  writeFileSync(database, bytes.fill(0x55, 4096))
  const damaged = await examine(['--data', stopped.folder])
  assert.equal(damaged.code, 8, damaged.text)
  assert.match(damaged.text, /damaged|malformed|not a database/)
})
