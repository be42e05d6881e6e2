// Devices that enrol themselves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Reply, replyOf } from '@jobcast/testkit/call-api'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { MqttLine, NotLetIn } from '@jobcast/testkit/mqtt-line'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { newSecretText } from '../../../src/domain/access/secret-text.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const minute = 60_000

type Enrollment = { enrollmentId: string; enrollmentToken: string }

async function newEnrollment(body: object = {}, key = api.adminKey): Promise<Enrollment> {
  const { json, status } = await api.call('POST', '/job/api/enrollments', { key, body })
  assert.equal(status, 201)
  return json
}

async function enroll(token: string, deviceId: string, body?: unknown): Promise<Reply> {
  return replyOf(
    await fetch(`${api.http}/things/${encodeURIComponent(deviceId)}/enroll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  )
}

async function usedOf({ enrollmentId }: Enrollment): Promise<number> {
  const { items } = (await api.call('GET', '/job/api/enrollments?limit=200')).json
  return items.find((each: Enrollment) => each.enrollmentId === enrollmentId).used
}

const read = async (deviceId: string) =>
  (await api.call('GET', `/job/api/devices/${encodeURIComponent(deviceId)}`)).json
const letIn = async (deviceId: string, token: string) =>
  (await deviceCalls(api.http, deviceId, token).call('GET', '')).status

function assertException(reply: Reply, status: number, exception: string): void {
  assert.equal(reply.headers.get('x-amzn-errortype'), exception, reply.text)
  assert.equal(reply.status, status)
  assert.deepEqual(Object.keys(reply.json), ['message'])
}

test('a device enrolls, signs in by HTTP and MQTT, and runs its executions', async () => {
  const { enrollmentToken } = await newEnrollment({ tags: ['kiosk', 'berlin'] })
  const reply = await enroll(enrollmentToken, 'kiosk-1', { deviceName: 'Kiosk 1' })
  assert.equal(reply.status, 201)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  const { deviceToken, ...rest } = reply.json
  assert.deepEqual(rest, { deviceId: 'kiosk-1' })
  assert.match(deviceToken, /^jd_[0-9A-Za-z]{48}$/)
  const made = await read('kiosk-1')
  assert.deepEqual([made.deviceName, made.tags], ['Kiosk 1', ['berlin', 'kiosk']])

  await api.putJobAndDevices('update', [])
  const [{ jobExecutionId }] = (await api.trigger('update', ['kiosk-1'])).json
  const device = deviceCalls(api.http, 'kiosk-1', deviceToken)
  assert.equal((await device.startNext()).json.execution.jobId, String(jobExecutionId))
  assert.equal((await device.update(jobExecutionId, 'SUCCEEDED')).status, 200)
  const line = await MqttLine.open(api.server.mqtt, { deviceId: 'kiosk-1', token: deviceToken })
  line.end()
})

test('a device that enrolled names the enrollment that created its token', async () => {
  const named = await newEnrollment({ name: 'gates' })
  await enroll(named.enrollmentToken, 'gate-1')
  const unnamed = await newEnrollment()
  await enroll(unnamed.enrollmentToken, 'gate-2')
  const makers = [
    { credentialCreatedBy: `enrollment:${named.enrollmentId}`, credentialCreatedByName: 'gates' },
    { credentialCreatedBy: `enrollment:${unnamed.enrollmentId}`, credentialCreatedByName: null },
  ]
  const { items } = (await api.call('GET', '/job/api/devices?where=deviceId%7Egate-*')).json
  for (const found of [items, [await read('gate-1'), await read('gate-2')]])
    for (const [index, { credentialCreatedBy, credentialCreatedByName }] of found.entries())
      assert.deepEqual({ credentialCreatedBy, credentialCreatedByName }, makers[index])
  // As what was revoked by now is still who created it.
  await api.call('DELETE', `/job/api/enrollments/${named.enrollmentId}`)
  assert.equal((await read('gate-1')).credentialCreatedByName, 'gates')
})

test('without a body the device is named like its id', async () => {
  const { enrollmentToken } = await newEnrollment()
  assert.equal((await enroll(enrollmentToken, 'ünï©ødé 🚪')).status, 201)
  assert.equal((await read('ünï©ødé 🚪')).deviceName, 'ünï©ødé 🚪')
})

test("the device belongs to the enrollment's owner", async () => {
  const stranger = await api.newOwner('stranger')
  await newDevice(api, 'shared')
  const { enrollmentToken } = await newEnrollment({}, stranger.key)
  assert.equal((await enroll(enrollmentToken, 'shared')).status, 201)
  const { items } = (await api.call('GET', '/job/api/devices', { key: stranger.key })).json
  assert.deepEqual(
    items.map(({ deviceId }: { deviceId: string }) => deviceId),
    ['shared'],
  )
})

test('of 20 devices at once exactly as many enrol as there are uses', async () => {
  const enrollment = await newEnrollment({ maxUses: 5 })
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => enroll(enrollment.enrollmentToken, `crowd-${index}`)),
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 5)
  assert.equal(replies.filter(({ status }) => status === 401).length, 15)
  assert.equal(await usedOf(enrollment), 5)
})

test('whatever is wrong with the token is answered with the bytes of any bad token', async () => {
  const usedUp = await newEnrollment()
  await enroll(usedUp.enrollmentToken, 'user')
  const revoked = await newEnrollment()
  await api.call('DELETE', `/job/api/enrollments/${revoked.enrollmentId}`)
  const expired = await newEnrollment({ expiresInSeconds: 60 })
  clock.forward(minute)
  const good = await newEnrollment()
  const device = await newDevice(api, 'asker')
  const unknown = newSecretText('je').text
  const bad = await replyOf(
    await fetch(`${api.http}/things/asker/jobs`, { headers: { authorization: `Bearer ${unknown}` } }),
  )
  assert.equal(bad.status, 401)
  for (const token of [
    usedUp.enrollmentToken,
    revoked.enrollmentToken,
    expired.enrollmentToken,
    unknown,
    good.enrollmentToken.slice(0, 13) + unknown.slice(13),
    `${good.enrollmentToken.slice(0, -1)}!`,
    device.token,
    api.adminKey,
    'je_x',
  ]) {
    for (const deviceId of ['asker', 'not-there']) {
      const reply = await enroll(token, deviceId)
      assertException(reply, 401, 'UnauthorizedException')
      assert.equal(reply.text, bad.text)
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
    }
  }
  assertException(await api.call('POST', '/things/asker/enroll'), 401, 'UnauthorizedException')
  assert.equal((await api.call('GET', '/job/api/devices/not-there')).status, 404)
  assert.equal((await enroll(good.enrollmentToken, 'not-there')).status, 201)
})

test('a bad token is answered before the body has arrived', async () => {
  const head = 'POST /things/d1/enroll HTTP/1.1\r\nHost: localhost\r\nConnection: close'
  const raw = `${head}\r\nAuthorization: Bearer je_x\r\nContent-Length: 100000\r\n\r\n`
  assert.equal((await sendRaw(api.http, raw)).status, 401)
})

test('the token of an enrollment is no token of a device', async () => {
  const { enrollmentToken } = await newEnrollment()
  await newDevice(api, 'd1')
  assert.equal(await letIn('d1', enrollmentToken), 401)
  await assert.rejects(
    MqttLine.open(api.server.mqtt, { deviceId: 'd1', token: enrollmentToken }),
    (error) => error instanceof NotLetIn,
  )
})

test('a device with a credential, or a revoked one, is not taken over: 409, and no use is counted', async () => {
  const enrollment = await newEnrollment()
  const device = await newDevice(api, 'owned')
  await newDevice(api, 'revoked')
  await api.call('DELETE', '/job/api/devices/revoked/credential')
  for (const deviceId of ['owned', 'revoked']) {
    const reply = await enroll(enrollment.enrollmentToken, deviceId, { claim: 'c'.repeat(16) })
    assertException(reply, 409, 'ConflictException')
  }
  assert.equal(await letIn('owned', device.token), 200)
  assert.equal((await read('revoked')).credentialCreatedAt, null)
  assert.equal(await usedOf(enrollment), 0)
})

test('a device that its owner has put keeps its name and tags', async () => {
  const { enrollmentToken } = await newEnrollment({ tags: ['mine'] })
  await api.call('PUT', '/job/api/devices/put', { body: { deviceName: 'Put', tags: ['theirs'] } })
  assert.equal((await enroll(enrollmentToken, 'put', { deviceName: 'Other' })).status, 201)
  const device = await read('put')
  assert.deepEqual([device.deviceName, device.tags], ['Put', ['theirs']])
})

const prefixed = await newEnrollment({ deviceIdPrefix: 'ki.', maxUses: 9 })
const refused: [string, string, unknown?][] = [
  ['a deviceId that begins otherwise', 'kiosk'],
  ['a deviceId that is shorter than the beginning', 'ki'],
  ['a deviceId with a slash', 'ki./1'],
  ['a deviceId with a wildcard', 'ki.#'],
  ['a deviceId that is too long', `ki.${'x'.repeat(126)}`],
  ['half a JSON text', 'ki.1', '{'],
  ['a list', 'ki.1', []],
  ['an empty deviceName', 'ki.1', { deviceName: '' }],
  ['a deviceName that is no text', 'ki.1', { deviceName: 7 }],
  ['a claim that is too short', 'ki.1', { claim: 'x'.repeat(15) }],
  ['a claim that is too long', 'ki.1', { claim: 'x'.repeat(129) }],
  ['a claim with a blank', 'ki.1', { claim: 'x'.repeat(16).concat(' y') }],
  ['a claim that is no text', 'ki.1', { claim: {} }],
]
for (const [title, deviceId, body] of refused) {
  test(`400 InvalidRequestException for ${title}, and no use is counted`, async () => {
    const reply = await enroll(prefixed.enrollmentToken, deviceId, body)
    assertException(reply, 400, 'InvalidRequestException')
    assert.equal(await usedOf(prefixed), 0)
  })
}

const claim = 'a-claim-of-the-device'

test('after a lost answer the same claim gives a new token for ten minutes, and the lost one is void', async () => {
  const enrollment = await newEnrollment()
  const { enrollmentToken } = enrollment
  const lost = (await enroll(enrollmentToken, 'unlucky', { claim })).json.deviceToken
  const line = await MqttLine.open(api.server.mqtt, { deviceId: 'unlucky', token: lost })
  clock.forward(10 * minute - 1)
  const again = await enroll(enrollmentToken, 'unlucky', { claim, deviceName: 'Other' })
  assert.equal(again.status, 201)
  await line.closed
  assert.deepEqual([await letIn('unlucky', lost), await letIn('unlucky', again.json.deviceToken)], [401, 200])
  assert.equal((await read('unlucky')).deviceName, 'unlucky')
  assert.equal(await usedOf(enrollment), 1)
  clock.forward(10 * minute)
  assertException(await enroll(enrollmentToken, 'unlucky', { claim }), 401, 'UnauthorizedException')
  assert.equal(await letIn('unlucky', again.json.deviceToken), 200)
})

test('another claim, none, or the same one by another enrollment takes nothing over', async () => {
  const enrollment = await newEnrollment({ maxUses: 9 })
  const other = await newEnrollment({ maxUses: 9 })
  const { deviceToken } = (await enroll(enrollment.enrollmentToken, 'claimed', { claim })).json
  for (const [token, body] of [
    [enrollment.enrollmentToken, { claim: `${claim}!` }],
    [enrollment.enrollmentToken, {}],
    [other.enrollmentToken, { claim }],
  ] as const) {
    assertException(await enroll(token, 'claimed', body), 409, 'ConflictException')
  }
  assert.equal(await letIn('claimed', deviceToken), 200)
  assert.deepEqual([await usedOf(enrollment), await usedOf(other)], [1, 0])
})

test('what the owner says later holds against a claim', async () => {
  const { enrollmentToken } = await newEnrollment({ maxUses: 9 })
  await enroll(enrollmentToken, 'later', { claim })
  await api.call('DELETE', '/job/api/devices/later/credential')
  assertException(await enroll(enrollmentToken, 'later', { claim }), 409, 'ConflictException')
  const { json } = await api.call('POST', '/job/api/devices/later/credential')
  assertException(await enroll(enrollmentToken, 'later', { claim }), 409, 'ConflictException')
  assert.equal(await letIn('later', json.deviceToken), 200)
})

test('devices that have enrolled are kept when the enrollment is revoked', async () => {
  const { enrollmentId, enrollmentToken } = await newEnrollment({ maxUses: 9 })
  const { deviceToken } = (await enroll(enrollmentToken, 'stays')).json
  await api.call('DELETE', `/job/api/enrollments/${enrollmentId}`)
  assert.equal(await letIn('stays', deviceToken), 200)
})
