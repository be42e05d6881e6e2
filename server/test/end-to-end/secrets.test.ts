// Secrets do not leak. Recognizable keys and tokens are sent everywhere a caller could send one, also by mistake; then all output
// of the service is searched for them.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MqttLine, NotLetIn, type SignIn } from '@jobcast/testkit/mqtt-line'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { rawRequest } from '@jobcast/testkit/raw-request'
import { type SpawnedServer, spawnServer, startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { hashSecret } from '../../src/domain/access/secret-text.ts'
import { newSecretText } from '../../src/index.ts'

const idEnd = 'jc_'.length + 10

/** The texts that must not be found: the whole secret, and its secret part. */
function traces(secrets: string[]): string[] {
  return secrets.flatMap((secret) => [secret, secret.slice(idEnd), secret.slice(idEnd, -6)])
}

function assertHasNone(place: string, content: string | Buffer, secrets: string[]): void {
  for (const trace of traces(secrets)) assert.ok(!content.includes(trace), `${place} holds a secret`)
}

function filesOf(folder: string): { name: string; bytes: Buffer }[] {
  return readdirSync(folder).map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
}

/** Every kind of key and token there is, by the way it came to be. */
async function makeSecrets(server: SpawnedServer) {
  const good = await server.newKey(['TRIGGER', 'READ', 'MANAGE'])
  const revoked = await server.newKey(['READ'])
  assert.equal((await server.call('DELETE', `/job/api/keys/${revoked.keyId}`)).status, 204)
  const expired = await server.newKey(['READ'], { expiresAt: '2020-01-01T00:00:00Z' })
  const { key: foreign } = await server.newOwner('somebody else')
  await server.putJobAndDevices('restart', ['d1', 'd2'])
  const tokens: string[] = []
  for (const deviceId of ['d1', 'd1', 'd2']) {
    const reply = await server.call('POST', `/job/api/devices/${deviceId}/credential`)
    tokens.push(reply.json.deviceToken)
  }
  await server.call('DELETE', '/job/api/devices/d2')
  tokens.push(newSecretText('jd').text, `${newSecretText('jd').text.slice(0, -1)}!`)
  const enrolled = await enrollOne(server)
  tokens.push(...enrolled)
  const unknown = newSecretText('jc').text
  const misspelled = `${newSecretText('jc').text.slice(0, -1)}!`
  const keys = [good.apiKey, revoked.apiKey, expired.apiKey, foreign, unknown, misspelled]
  const goodTokens = [tokens[1] as string, ...enrolled.slice(0, 2)]
  return { good, goodTokens, keys, tokens }
}

/** The token of an enrollment, that of the device that enrolled by it, its claim; the token of an enrollment used up. */
async function enrollOne(server: SpawnedServer): Promise<string[]> {
  const [many, one] = await Promise.all(
    [2, 1].map(async (maxUses) => {
      const body = { maxUses, deviceIdPrefix: 'enrolled-' }
      return (await server.call('POST', '/job/api/enrollments', { body })).json.enrollmentToken as string
    }),
  )
  const claim = newSecretText('je').text
  const enroll = async (token: string | undefined, deviceId: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return server.call('POST', `/things/${deviceId}/enroll`, { key: 'none', headers, body: { claim } })
  }
  assert.equal((await enroll(one, 'enrolled-1')).status, 201)
  const { json } = await enroll(many, 'enrolled-2')
  return [many as string, json.deviceToken, claim, one as string]
}

/** The bodies of all answers to calls with secrets in right and wrong places. */
async function sendEverywhere(server: SpawnedServer, secrets: string[]): Promise<string[]> {
  const bodies: string[] = []
  for (const secret of secrets) {
    const problem = { accept: 'application/problem+json' }
    const elsewhere = { authorization: `Bearer ${secret}`, cookie: `key=${secret}`, 'x-api-key2': secret }
    const path = encodeURIComponent(secret)
    const calls: [string, string, Parameters<SpawnedServer['call']>[2]][] = [
      ['GET', '/job/api/executions', { key: secret }],
      ['POST', '/job/api/jobs/execute', { key: secret, body: {} }],
      ['POST', '/job/api/jobs/execute', { key: secret, body: {}, headers: problem }],
      ['POST', '/job/api/jobs/execute', { key: secret, rawBody: '{"jobName":', headers: problem }],
      ['GET', `/job/api/executions?apiKey=${path}`, { key: '', headers: elsewhere }],
      ['GET', `/job/api/executions?cursor=${path}`, { headers: problem }],
      ['DELETE', `/job/api/keys/${path}`, { headers: problem }],
      ['GET', `/job/api/devices/${path}`, { headers: problem }],
      ['GET', `/nowhere/${path}`, { headers: problem }],
      ['GET', `/livez?key=${path}`, { headers: elsewhere }],
      ['POST', `/job/api/keys?${path}=1`, { body: { keyName: 'k', scopes: ['NONE'] }, headers: problem }],
      ['PATCH', `/job/api/jobs/${path}`, { headers: elsewhere }],
    ]
    for (const [method, url, options] of calls) bodies.push((await server.call(method, url, options)).text)
    const twice = [`X-API-Key: ${secret}`, `X-API-Key: ${secret}`]
    for (const raw of [
      rawRequest(secret, { headers: twice, body: '{}' }),
      `${secret}\r\n\r\n`,
      `GET /${secret} HTTP/9\r\n\r\n`,
    ]) {
      bodies.push((await sendRaw(server.http, raw)).text)
    }
  }
  return bodies
}

/** Responses to devices that send a secret in right and wrong places, over each transport. */
async function showEverywhere(server: SpawnedServer, secrets: string[]): Promise<string[]> {
  const answers: string[] = []
  for (const secret of secrets) {
    const path = encodeURIComponent(secret)
    const signIns: SignIn[] = [
      { deviceId: 'd1', token: secret },
      { deviceId: 'd1', token: secret, version: 4, clientId: secret },
      { deviceId: 'd2', token: secret },
      { deviceId: secret, token: secret },
      { deviceId: `${secret}?SDK=x`, token: 'x' },
      { deviceId: ` ${secret}`, token: 'x' },
      { deviceId: `d1:${secret}`, token: 'x', version: 4 },
    ]
    for (const address of [server.mqtt, server.http]) {
      for (const signIn of signIns) answers.push(...(await talkOf(secret, address, signIn)))
    }
    const bearer = { authorization: `Bearer ${secret}` }
    const calls: [string, string, Record<string, string>][] = [
      ['GET', '/things/d1/jobs', bearer],
      ['GET', '/things/d2/jobs', bearer],
      ['GET', `/things/${path}/jobs`, bearer],
      ['GET', `/things/d1/jobs?token=${path}&wait=${path}`, bearer],
      ['GET', `/things/d1/jobs/${path}`, bearer],
      ['PUT', `/things/d1/jobs/${path}`, bearer],
      ['POST', `/things/d1/jobs/${path}`, bearer],
      ['POST', `/things/d1/jobs/${path}/output`, bearer],
      ['GET', `/things/d1/jobs/1?executionNumber=${path}`, bearer],
      ['POST', '/things/d1/enroll', bearer],
      ['POST', `/things/${path}/enroll`, bearer],
      ['POST', `/things/enrolled-3/enroll?token=${path}`, bearer],
      ['GET', '/things/d1/jobs', { authorization: `Basic ${secret}`, cookie: `token=${secret}` }],
      ['GET', '/things/d1/jobs', { 'x-api-key': secret }],
      ['GET', '/job/api/executions', { ...bearer, 'x-api-key': secret }],
      ['GET', `/mqtt?token=${path}`, bearer],
    ]
    for (const [method, url, headers] of calls) {
      const rawBody = method === 'GET' ? {} : { rawBody: `{"status":"${secret}"` }
      answers.push((await server.call(method, url, { key: 'none', headers, ...rawBody })).text)
    }
  }
  return answers
}

/** The traffic of a connection that sends the secret in all possible places. */
async function talkOf(secret: string, address: string, signIn: SignIn): Promise<string[]> {
  try {
    const line = await MqttLine.open(address, signIn)
    await line.subscribe('get/+', '+/get/+', '+/update/+', 'start-next/+', '+/output/+')
    await line.subscribe(secret).catch(() => undefined)
    const requests: [string, object][] = [
      [`${secret}/get`, {}],
      [`${secret}/update`, { status: secret }],
      [`${secret}/output`, { offset: 0, data: secret }],
      ['1/update', { status: secret }],
      ['1/output', { offset: 0, data: '', encoding: secret }],
      ['start-next', { stepTimeoutInMinutes: secret }],
      ['get', { token: secret }],
    ]
    const answers: string[] = []
    for (const [suffix, fields] of requests) {
      if (/[^A-Za-z0-9_/-]/.test(suffix)) continue
      answers.push(JSON.stringify((await line.request(suffix, fields)).json))
    }
    line.publishUnconfirmed('get', `{"${secret}`)
    line.publishUnconfirmed(secret, secret)
    line.send({ cmd: 'publish', topic: secret, payload: secret, qos: 0, dup: false, retain: false })
    line.end()
    await line.closed
    return answers
  } catch (error) {
    assert.ok(error instanceof NotLetIn, String(error))
    return []
  }
}

test('no key or token is in logs, metrics, later responses, or the database', async (t) => {
  const folder = temporaryFolder(t)
  const adminKey = newSecretText('jc').text
  const options = { flags: ['--log-level', 'trace'], env: { JOBCAST_ADMIN_KEY: adminKey } }
  const server = await startProgram(folder, options).ready
  t.after(() => server.end('SIGKILL'))
  const { good, goodTokens, keys, tokens } = await makeSecrets(server)
  const secrets = [adminKey, ...keys, ...tokens]

  for (const body of await sendEverywhere(server, secrets)) assertHasNone('an answer', body, secrets)
  const answers = await showEverywhere(server, [...tokens, good.apiKey])
  for (const answer of answers) assertHasNone('an answer to a device', answer, secrets)
  assert.ok(
    answers.some((answer) => answer.includes('inProgressJobs')),
    'no device was let in',
  )
  const lists = ['keys', 'devices', 'enrollments', 'jobs', 'owners', 'devices/d1', 'runs', 'executions']
  for (const list of lists) {
    assertHasNone(list, (await server.call('GET', `/job/api/${list}`)).text, secrets)
  }
  for (const path of ['/metrics', '/openapi.json']) {
    assertHasNone(path, (await server.call('GET', path)).text, secrets)
  }
  for (const { name, bytes } of filesOf(folder)) assertHasNone(name, bytes, secrets)
  assert.equal((await server.end('SIGTERM')).code, 0)

  const log = server.output.lines.join('\n')
  assertHasNone('the log', log, secrets)
  assertHasNone('stderr', server.output.errors, secrets)
  for (const { name, bytes } of filesOf(folder)) assertHasNone(name, bytes, secrets)
  // That the search can find something: the public id of a key is in the log and in the database, where a token is
  // known by its public id and its hash.
  assert.ok(log.includes(good.keyId))
  const known = goodTokens.flatMap((token) => [
    token.slice('jd_'.length, idEnd),
    Buffer.from(hashSecret(token)),
  ])
  for (const trace of [good.keyId, ...known]) {
    assert.ok(filesOf(folder).some(({ bytes }) => bytes.includes(trace)))
  }
})

test('the first admin key is stored in a file that only its owner can read, and not written to a log or pipe', async (t) => {
  const folder = join(temporaryFolder(t), 'data')
  const server = await spawnServer(folder, '--log-level', 'trace')
  t.after(() => server.end('SIGKILL'))
  assert.equal((await server.call('GET', '/job/api/keys')).status, 200)
  assert.equal((await server.end('SIGTERM')).code, 0)
  assertHasNone('stderr', server.output.errors, [server.adminKey])
  assert.match(server.output.errors, /admin-key/)
  assertHasNone('the log', server.output.lines.join('\n'), [server.adminKey])
  for (const { name, bytes } of filesOf(folder)) {
    if (name !== 'admin-key') assertHasNone(name, bytes, [server.adminKey])
  }
  if (process.platform !== 'win32') {
    assert.equal(statSync(join(folder, 'admin-key')).mode & 0o777, 0o600)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  }
  const again = await spawnServer(folder)
  assert.equal((await again.call('GET', '/job/api/keys')).status, 200)
  assert.equal((await again.end('SIGTERM')).code, 0)
  assertHasNone('stderr of the second start', again.output.errors, [server.adminKey])
})
