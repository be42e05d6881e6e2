// How devices sign in over HTTP. Every refusal of a token is one and the same answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newSecretText } from '../../../src/domain/access/secret-text.ts'
import { assertRefused } from '../../http/assert-reply.ts'

const api = await openSharedServer()
const device = await newDevice(api, 'd1')
const other = await newDevice(api, 'd2')
const revoked = await newDevice(api, 'revoked')
await api.call('DELETE', '/job/api/devices/revoked/credential')
const deleted = await newDevice(api, 'deleted')
await api.call('DELETE', '/job/api/devices/deleted')
const stranger = await api.newOwner('stranger')
await newDevice(api, 'd1', stranger.key)

/** The answer but for what differs in every answer. */
async function send(line: string, headers: string[], body = '') {
  const head = [line, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')
  const reply = await sendRaw(api.http, `${head}\r\n\r\n${body}`)
  const answer = reply.text.replaceAll(/(?:x-request-id|x-amzn-requestid|date): [^\r]*\r\n/gi, '')
  return { status: reply.status, answer }
}
const ask = (headers: string[], thing = 'd1') => send(`GET /things/${thing}/jobs HTTP/1.1`, headers)

test('the token of the device lets it in, however Bearer is spelled', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
    assert.equal((await ask([`Authorization: ${scheme} ${device.token}`])).status, 200)
  }
})

const missing = await ask([])
test('without a token the answer is 401 and says what is wanted', () => {
  assert.equal(missing.status, 401)
  assert.match(missing.answer, /\r\nwww-authenticate: Bearer\r\n/i)
  assert.match(missing.answer, /\r\nx-amzn-errortype: UnauthorizedException\r\n/i)
  assert.match(missing.answer, /\r\n\r\n\{"message":"[^"]+"\}$/)
})

const unknown = newSecretText('jd').text
const refused: Record<string, string[]> = {
  'an empty header': ['Authorization:'],
  'a scheme alone': ['Authorization: Bearer'],
  'a token alone': [`Authorization: ${device.token}`],
  'another scheme': [`Authorization: Basic ${btoa(`d1:${device.token}`)}`],
  'a signature as AWS makes it': ['Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request'],
  'two tokens in one header': [`Authorization: Bearer ${device.token} ${device.token}`],
  'the header twice': [`Authorization: Bearer ${device.token}`, `Authorization: Bearer ${device.token}`],
  'a malformed token': ['Authorization: Bearer jd_x'],
  'a token with a typing error': [`Authorization: Bearer ${device.token.slice(0, -1)}!`],
  'an unknown token': [`Authorization: Bearer ${unknown}`],
  'a known id with another secret': [
    `Authorization: Bearer ${device.token.slice(0, 13)}${unknown.slice(13)}`,
  ],
  'a revoked token': [`Authorization: Bearer ${revoked.token}`],
  'the token of a deleted device': [`Authorization: Bearer ${deleted.token}`],
  'an API key as token': [`Authorization: Bearer ${api.adminKey}`],
  'an API key': [`X-API-Key: ${api.adminKey}`],
  'the token as API key': [`X-API-Key: ${device.token}`],
}
for (const [title, headers] of Object.entries(refused)) {
  test(`${title} is refused with the same bytes as no token`, async () => {
    assert.deepEqual(await ask(headers), missing)
  })
}

test('the token of another device is 403, with the same bytes whether or not there is such a thing', async () => {
  const headers = [`Authorization: Bearer ${other.token}`]
  const answers = [await ask(headers), await ask(headers, 'nobody'), await ask(headers, 'revoked')]
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(answers[0]?.status, 403)
  assert.match(answers[0]?.answer ?? '', /\r\nx-amzn-errortype: ForbiddenException\r\n/i)
})

test("another owner's device of the same id has its own queue", async () => {
  await api.putJobAndDevices('update', [], stranger.key)
  await api.trigger('update', ['d1'], { key: stranger.key })
  assert.deepEqual((await device.call('GET', '')).json.queuedJobs, [])
})

test('a bad token is answered before the body has arrived', async () => {
  for (const method of ['PUT', 'POST']) {
    const line = `${method} /things/d1/jobs/$next HTTP/1.1`
    const headers = ['Authorization: Bearer jd_x', 'Content-Length: 100000']
    assert.equal((await send(line, headers)).status, 401)
  }
})

test('the token of a device opens nothing under /job/api: J-802', async () => {
  assertRefused(await api.call('GET', '/job/api/devices', { key: device.token }), 'J-802')
  const headers = { authorization: `Bearer ${device.token}` }
  assertRefused(await api.call('GET', '/job/api/devices', { key: '', headers }), 'J-802')
})

for (const deviceId of ['with a blank', 'urn:dev:mac:0024be', 'ünï©ødé 🚪', '%41', '$next']) {
  test(`a device may be named ${deviceId}`, async () => {
    const named = await newDevice(api, deviceId)
    await api.putJobAndDevices('update', [])
    await api.trigger('update', [deviceId])
    const { json } = await named.startNext()
    assert.equal(json.execution.thingName, deviceId)
  })
}

test('devices of hawkBit are not served without the setting ddi: J-901', async () => {
  const headers = { authorization: `TargetToken ${device.token}` }
  assertRefused(await api.call('GET', '/DEFAULT/controller/v1/d1', { headers }), 'J-901')
})
