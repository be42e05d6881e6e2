// jobcast doctor --bridge, with a real mosquitto: with access rules and without.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  certificates,
  makeClientCertificate,
  makeExpiredServerCertificate,
} from '@jobcast/testkit/certificates'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { runJobcast } from './run-jobcast.ts'

const options = { skip: withoutMosquitto }

/** No service is there: what is found before that is asked for. */
async function examine(args: string[], env: Record<string, string> = {}) {
  const { stdout, stderr } = await runJobcast(
    ['doctor', '--json', '--url', 'http://127.0.0.1:1', ...args],
    env,
  )
  assert.notEqual(stdout, '', stderr)
  const { checks } = JSON.parse(stdout) as { checks: { check: string; mark: string; text: string }[] }
  return Object.fromEntries(checks.map(({ check, mark, text }) => [check, `${mark}: ${text}`]))
}

test('warns of a broker where anybody can speak as any device', options, async (t) => {
  const { url } = await openMosquitto(t)
  const found = await examine(['--bridge', url])
  assert.equal(found.broker, `ok: a bridge works at ${url}`)
  assert.match(found.anonymous ?? '', /^warning: anybody can speak as any device/)
  assert.match(found.devices ?? '', /^warning: not checked/)
})

test('tells devices that can speak as another from those that cannot', options, async (t) => {
  const prefix = 'jobcast/things'
  const acl = [
    'user jobcast',
    `topic ${prefix}/#`,
    'user loose',
    `topic ${prefix}/#`,
    `pattern readwrite ${prefix}/%u/#`,
  ]
  const { url } = await openMosquitto(t, { acl, users: { jobcast: 'secret', d1: 'one', loose: 'one' } })
  const file = join(temporaryFolder(t), 'password')
  writeFileSync(file, 'one\n', { mode: 0o600 })
  const env = { JOBCAST_BRIDGE_USER: 'jobcast', JOBCAST_BRIDGE_PASSWORD: 'secret' }
  const args = ['--bridge', url, '--bridge-prefix', prefix, '--bridge-password-file', file]
  const strict = await examine([...args, '--bridge-device', 'd1'], env)
  assert.equal(strict.broker, `ok: a bridge works at ${url}`)
  assert.equal(strict.anonymous, 'ok: the broker refuses clients without credentials')
  assert.equal(strict.devices, 'ok: user d1 cannot speak as another device')
  const loose = await examine([...args, '--bridge-device', 'loose'], env)
  assert.match(loose.devices ?? '', /^warning: user loose can speak as any other device/)
  const unknown = await examine([...args, '--bridge-device', 'nobody'], env)
  assert.match(unknown.devices ?? '', /^problem: user nobody could not sign in: /)
  const wrong = await examine(args, { ...env, JOBCAST_BRIDGE_PASSWORD: 'wrong' })
  assert.match(wrong.broker ?? '', /^problem: a bridge does not work at .*Not authorized/)
})

test(
  'tells an expired certificate of the broker, and a certificate that the broker rejects',
  options,
  async (t) => {
    const expired = await makeExpiredServerCertificate()
    const broker = await openMosquitto(t, { tls: { ...expired, clientCa: certificates.ca } })
    const env = { JOBCAST_BRIDGE_CA_FILE: certificates.ca }
    const found = await examine(['--bridge', broker.url], env)
    assert.equal(
      found.broker,
      `problem: a bridge does not work at ${broker.url}: the certificate of the broker is not trusted (certificate has expired)`,
    )
    await broker.end('SIGTERM')
    broker.setCertificate({ cert: certificates.serverCert, key: certificates.serverKey })
    await broker.start()
    const without = await examine(['--bridge', broker.url], env)
    assert.match(
      without.broker ?? '',
      /the broker rejects the certificate of the service \(certificate required\)$/,
    )
    const { cert, key } = await makeClientCertificate('jobcast')
    const own = { ...env, JOBCAST_BRIDGE_CERT_FILE: cert, JOBCAST_BRIDGE_KEY_FILE: key }
    const works = await examine(['--bridge', broker.url], own)
    assert.equal(works.broker, `ok: a bridge works at ${broker.url}`)
    assert.equal(works.anonymous, 'ok: the broker refuses clients without credentials')
  },
)

test('a URL that names no broker is invalid usage', async () => {
  assert.match((await examine(['--bridge', 'http://x'])).broker ?? '', /^problem: .*mqtts:\/\/broker:8883/s)
})
