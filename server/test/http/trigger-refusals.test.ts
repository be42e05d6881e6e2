// Errors of POST /job/api/jobs/execute: the exact bytes, and the precedence of errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newSecretText } from '../../src/index.ts'

const past = '2020-01-01T00:00:00Z'
const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'])
const other = await api.newOwner('other')
await api.putJobAndDevices('theirs', ['d9'], other.key)
// Both owners have a d1: names are looked up within the owner.
await api.putJobAndDevices('theirs too', ['d1'], other.key)

async function revoked(more: object): Promise<string> {
  const { keyId, apiKey } = await api.newKey(['TRIGGER'], more)
  await api.call('DELETE', `/job/api/keys/${keyId}`)
  return apiKey
}
const good = (await api.newKey(['TRIGGER'])).apiKey
const deviceToken = (await api.call('POST', '/job/api/devices/d1/credential')).json.deviceToken
const keys = {
  good,
  absent: undefined,
  empty: '',
  unknown: newSecretText('jc').text,
  malformed: 'jc_0123456789',
  cutOff: good.slice(0, -1),
  mistyped: good.slice(0, -1) + (good.endsWith('0') ? '1' : '0'),
  otherSecretOfSameId: newSecretText('jc').text.replace(/^jc_.{10}/, good.slice(0, 13)),
  deviceToken,
  revoked: await revoked({}),
  revokedAndExpired: await revoked({ expiresAt: past }),
  expired: (await api.newKey(['TRIGGER'], { expiresAt: past })).apiKey,
  expiredWithoutTrigger: (await api.newKey(['READ'], { expiresAt: past })).apiKey,
  withoutScopes: (await api.newKey([])).apiKey,
  withOtherScopes: (await api.newKey(['READ', 'MANAGE', 'ADMIN'])).apiKey,
}

const answers = {
  'J-500': '{"code":"J-500","message":"Validation error","status":400}',
  'J-802': '{"code":"J-802","message":"Invalid API key","status":403}',
  'J-803': '{"code":"J-803","message":"API key is expired","status":403}',
  'J-804': '{"code":"J-804","message":"API key does not have the required permission: TRIGGER","status":403}',
  'J-301': '{"code":"J-301","message":"Job not found","status":404}',
  'J-001': '{"code":"J-001","message":"Device not found","status":404}',
}

const valid = '{"jobName":"update","deviceIds":["d1"]}'
const wrong = '{"jobName":"","deviceIds":[]}'
const nowhere = '{"jobName":"nowhere","deviceIds":["nobody"]}'
const many = (bad: string) => JSON.stringify({ jobName: 'update', deviceIds: ['d1', 'd2', bad, 'd3'] })

type Refusal = { title: string; code: keyof typeof answers; key?: keyof typeof keys; body?: string }
const refusals: Refusal[] = [
  { title: 'the key is absent', code: 'J-802', key: 'absent' },
  { title: 'the key is absent, the body wrong', code: 'J-802', key: 'absent', body: wrong },
  { title: 'the key is empty', code: 'J-802', key: 'empty' },
  { title: 'the key is unknown', code: 'J-802', key: 'unknown' },
  { title: 'the key is malformed', code: 'J-802', key: 'malformed' },
  { title: 'the last character of the key is missing', code: 'J-802', key: 'cutOff' },
  { title: 'the key has a typing error', code: 'J-802', key: 'mistyped' },
  { title: 'only the id of the key is known', code: 'J-802', key: 'otherSecretOfSameId' },
  { title: 'the key is the token of a device', code: 'J-802', key: 'deviceToken' },
  { title: 'the key is revoked', code: 'J-802', key: 'revoked' },
  { title: 'the key is revoked, the body wrong', code: 'J-802', key: 'revoked', body: wrong },
  { title: 'the key is revoked and expired', code: 'J-802', key: 'revokedAndExpired' },
  { title: 'the key is expired', code: 'J-803', key: 'expired' },
  { title: 'the key is expired and lacks TRIGGER', code: 'J-803', key: 'expiredWithoutTrigger' },
  { title: 'the key is expired, the body wrong', code: 'J-803', key: 'expired', body: wrong },
  { title: 'the key has no scopes', code: 'J-804', key: 'withoutScopes' },
  { title: 'the key has every scope but TRIGGER', code: 'J-804', key: 'withOtherScopes' },
  { title: 'the key lacks TRIGGER, the body is wrong', code: 'J-804', key: 'withoutScopes', body: wrong },
  { title: 'the key lacks TRIGGER, the job is unknown', code: 'J-804', key: 'withoutScopes', body: nowhere },
  { title: 'jobName is missing', code: 'J-500', body: '{"deviceIds":["d1"]}' },
  { title: 'deviceIds is missing', code: 'J-500', body: '{"jobName":"update"}' },
  { title: 'deviceIds is empty', code: 'J-500', body: '{"jobName":"update","deviceIds":[]}' },
  { title: 'deviceIds is empty, the job unknown', code: 'J-500', body: '{"jobName":"x","deviceIds":[]}' },
  { title: 'a device is no string, the job unknown', code: 'J-500', body: '{"jobName":"x","deviceIds":[1]}' },
  { title: 'the job is unknown', code: 'J-301', body: '{"jobName":"nowhere","deviceIds":["d1"]}' },
  { title: "the job is another owner's", code: 'J-301', body: '{"jobName":"theirs","deviceIds":["d1"]}' },
  {
    title: "only the device's namesake has the job",
    code: 'J-301',
    body: '{"jobName":"theirs too","deviceIds":["d1"]}',
  },
  { title: 'job and device are unknown', code: 'J-301', body: nowhere },
  {
    title: "job and device are another owner's",
    code: 'J-301',
    body: '{"jobName":"theirs","deviceIds":["d9"]}',
  },
  { title: 'the job differs in case', code: 'J-301', body: '{"jobName":"Update","deviceIds":["d1"]}' },
  { title: 'the job has a blank more', code: 'J-301', body: '{"jobName":"update ","deviceIds":["d1"]}' },
  { title: 'one device of many is unknown', code: 'J-001', body: many('nobody') },
  { title: "one device of many is another owner's", code: 'J-001', body: many('d9') },
  { title: 'one device of many differs in case', code: 'J-001', body: many('D1') },
]

for (const { title, code, key = 'good', body = valid } of refusals) {
  test(`answers ${code} when ${title}`, async () => {
    const apiKey = keys[key]
    const response = await fetch(`${api.http}/job/api/jobs/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey !== undefined && { 'x-api-key': apiKey }) },
      body,
    })
    assert.equal(await response.text(), answers[code])
    assert.equal(response.status, JSON.parse(answers[code]).status)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(response.headers.get('location'), null)
  })
}

test('answers J-301 and J-001 once job and device are deleted', async () => {
  await api.putJobAndDevices('gone', ['gone'])
  await api.call('DELETE', '/job/api/devices/gone')
  assert.equal((await api.trigger('gone', ['gone'])).text, answers['J-001'])
  await api.call('DELETE', '/job/api/jobs/gone')
  assert.equal((await api.trigger('gone', ['gone'])).text, answers['J-301'])
})

test('makes nothing for a refused call, neither here nor for the other owner', async () => {
  for (const key of [api.adminKey, other.key]) {
    for (const list of ['executions', 'runs']) {
      assert.deepEqual((await api.call('GET', `/job/api/${list}`, { key })).json.items, [])
    }
  }
})
