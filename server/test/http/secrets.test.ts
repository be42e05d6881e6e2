// Named secrets: put, used in documents, sent to devices, masked in reports, and found nowhere else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/job/api/${path}`, { ...(body !== undefined && { body }) })
const putSecret = async (name: string, value: string) => {
  const reply = await call('PUT', `secrets/${name}`, { value })
  assert.ok(reply.status < 300, reply.text)
  assert.ok(!reply.text.includes(value), 'the value is shown')
}
const putJob = (jobName: string, document: object, more: object = {}) =>
  call('PUT', `jobs/${jobName}`, { document, ...more })
const outputOf = async (jobId: string) => (await call('GET', `executions/${jobId}/output`)).text
const problem = { accept: 'application/problem+json' }

/** Started by its device. */
async function start(jobName: string, device: DeviceCalls) {
  await api.trigger(jobName, [device.deviceId])
  return (await device.startNext()).json.execution
}

test('an unknown secret is J-318 at the document, one in use is J-315 with the names of what uses it', async () => {
  await newDevice(api, 'used-1')
  const document = { token: '${secrets.USED}' }
  const refused = await api.call('PUT', '/job/api/jobs/uses', { body: { document }, headers: problem })
  assert.deepEqual([refused.status, refused.json.code, refused.json.field], [404, 'J-318', 'document'])
  assert.match(refused.json.detail, /\$\{secrets\.USED\}, but there is no secret "USED"/)
  await putSecret('USED', 'a value in use')
  assert.equal((await putJob('uses', document)).status, 201)
  const when = { cron: '0 3 * * *' }
  await call('PUT', 'schedules/uses-it', { jobName: 'uses', targets: { where: 'all' }, when })
  const [{ runId }] = [
    (await call('POST', 'runs', { jobName: 'uses', targets: { deviceIds: ['used-1'] } })).json,
  ]
  const { updatedBy, updatedByName, usedBy } = (await call('GET', 'secrets/USED')).json
  assert.deepEqual(usedBy, ['job:uses', 'schedule:uses-it', `run:${runId}`])
  assert.match(updatedBy, /^key:/)
  assert.equal(typeof updatedByName, 'string')
  const inUse = await call('DELETE', 'secrets/USED')
  assert.deepEqual([inUse.status, inUse.json.code], [409, 'J-315'])
  assert.match(
    inUse.json.message,
    /by the job uses, and by the schedule uses-it, and by the unfinished run \d+$/,
  )
  await putJob('uses', {})
  assert.match((await call('DELETE', 'secrets/USED')).json.message, /: by the unfinished run \d+$/)
  await call('POST', `runs/${runId}/cancel`)
  assert.equal((await call('DELETE', 'secrets/USED')).status, 204)
  assertRefused(await call('DELETE', 'secrets/USED'), 'J-318')
  // An earlier version names it still.
  const earlier = { jobName: 'uses', targets: { deviceIds: ['used-1'] }, version: 1 }
  assertRefused(await call('POST', 'runs', earlier), 'J-318')
  assertRefused(await call('POST', 'runs?dryRun=true', earlier), 'J-318')
  assertRefused(await call('POST', 'jobs/uses/versions/1/restore'), 'J-318')
  assertRefused(await call('POST', `runs/${runId}/retry`), 'J-318')
  const pinned = { jobName: 'uses', targets: { where: 'all' }, when, version: 1 }
  assertRefused(await call('PUT', 'schedules/uses-it', pinned), 'J-318')
})

const wrong: [string, unknown, RegExp][] = [
  ['TOO_LARGE', { value: 'ä'.repeat(8193) }, /value/],
  ['EMPTY', { value: '' }, /value/],
  ['NUL', { value: 'a\0b' }, /value/],
  ['SURROGATE', { value: '\ud800' }, /value/],
  ['9LIVES', { value: 'value of nine' }, /secretName/],
  ['a.b', { value: 'value of a.b' }, /secretName/],
]
for (const [name, body, field] of wrong) {
  test(`a secret ${name} is refused with J-500, without its value in the answer`, async () => {
    const reply = await api.call('PUT', `/job/api/secrets/${name}`, { body, headers: problem })
    assert.deepEqual([reply.status, reply.json.code], [400, 'J-500'])
    assert.match(reply.json.field, field)
    const { value } = body as { value: string }
    assert.ok(value.length < 6 || !reply.text.includes(value))
  })
}

const wrongDocuments: [string, object][] = [
  ['two names of one variable', { a: '${secrets.MY_KEY}', b: '${secrets.my-key}' }],
  ['a default', { a: '${secrets.MY_KEY:-none}' }],
  ['a placeholder in a command', { command: ['echo', '${secrets.MY_KEY}'] }],
  ['17 placeholders', { a: Array.from({ length: 17 }, () => '${secrets.MY_KEY}') }],
]
for (const [what, document] of wrongDocuments) {
  test(`a document with ${what} of secrets is refused with J-500`, async () => {
    await putSecret('MY_KEY', 'any value')
    await putSecret('my-key', 'any value')
    assertRefused(await putJob('wrong', document), 'J-500')
  })
}

test('a device gets the value, people see it masked, and a rotation reaches what is pending', async () => {
  const device = await newDevice(api, 'rotated-1')
  await putSecret('ROTATED', 'old-value')
  await putJob('rotated', { header: 'Bearer ${secrets.ROTATED}', whole: '${secrets.ROTATED}' })
  await api.trigger('rotated', ['rotated-1'])
  await putSecret('ROTATED', 'new "value"')
  const { execution } = (await device.startNext()).json
  const document = { header: 'Bearer new "value"', whole: 'new "value"' }
  assert.deepEqual(JSON.parse(execution.jobDocument), document)
  assert.deepEqual(execution.secrets, { ROTATED: 'new "value"' })
  const shown = await call('GET', `executions/${execution.jobId}/document`)
  assert.deepEqual(shown.json, { header: 'Bearer ********', whole: '********' })
  const targets = { deviceIds: ['rotated-1'] }
  const plan = await call('POST', 'runs?dryRun=true', { jobName: 'rotated', targets })
  assert.deepEqual(plan.json.document, { header: 'Bearer ********', whole: '********' })
  await device.update(execution.jobId, 'SUCCEEDED')
})

test('a value split over pieces of output, repeated and in either encoding, is masked', async () => {
  const device = await newDevice(api, 'split-1')
  await putSecret('SPLIT', 'geheim-ü-🔑')
  await putJob('split', { token: '${secrets.SPLIT}' })
  const { jobId } = await start('split', device)
  const bytes = Buffer.from('a geheim-ü-🔑 b geheim-ü-🔑geheim-ü-🔑 Uploading')
  for (let at = 0; at < bytes.length; at += 5) {
    const data = bytes.subarray(at, at + 5).toString('base64')
    const reply = await device.call('POST', `/${jobId}/output`, { offset: at, encoding: 'base64', data })
    assert.equal(reply.json.offset, Math.min(bytes.length, at + 5), reply.text)
    // Once more, as after a lost answer.
    const again = await device.call('POST', `/${jobId}/output`, { offset: at, encoding: 'base64', data })
    assert.equal(again.json.offset, Math.min(bytes.length, at + 5))
  }
  const gap = await device.output(Number(jobId), bytes.length + 9, 'later')
  assert.equal(gap.json.offset, bytes.length)
  // Its last letter may be the first one of a secret.
  assert.equal(await outputOf(jobId), 'a ******** b **************** Uploadin')
  await device.update(Number(jobId), 'SUCCEEDED')
  assert.equal(await outputOf(jobId), 'a ******** b **************** Uploading')
})

test('statusDetails and results are masked, with values before a rotation and secrets among parameters', async () => {
  const device = await newDevice(api, 'details-1')
  await putSecret('DETAIL', 'before-it')
  const parameters = { type: 'object', properties: { pin: { type: 'integer', writeOnly: true } } }
  await putJob('details', { token: '${secrets.DETAIL}', pin: '${params.pin:-}' }, { parameters })
  const targets = { deviceIds: ['details-1'] }
  await call('POST', 'runs', { jobName: 'details', targets, parameters: { pin: 123456 } })
  const { jobId } = (await device.startNext()).json.execution
  await putSecret('DETAIL', 'after-it')
  const statusDetails = { reason: 'before-it or after-it failed', 'before-it': 'x' }
  const result = { pins: [123456, 1234567, 12345], list: [{ 'k before-it': 'after-itafter-it' }] }
  await device.update(jobId, 'FAILED', { statusDetails, result })
  const execution = (await call('GET', `executions/${jobId}`)).json
  assert.deepEqual(execution.statusDetails, { reason: '******** or ******** failed', '********': 'x' })
  assert.deepEqual(execution.result, {
    pins: ['********', '********7', 12345],
    list: [{ 'k ********': '****************' }],
  })
  for (const path of ['history', 'explain']) {
    const { text } = await call('GET', `executions/${jobId}/${path}`)
    assert.ok(!/before-it|after-it|123456/.test(text), text)
  }
})

test('over MQTT and with start-next, too', async () => {
  const device = await newDevice(api, 'line-1')
  await putSecret('LINE', 'on-the-line')
  await putJob('line', { token: '${secrets.LINE}' }, { retry: { max: 1, backoffSeconds: 0 } })
  await api.trigger('line', ['line-1'])
  const line = await MqttLine.open(api.server.mqtt, { deviceId: 'line-1', token: device.token })
  try {
    await line.subscribe('start-next/accepted', '+/output/accepted', '+/update/accepted')
    const started = await line.request('start-next', { statusDetails: { was: 'on-the-line' } })
    const { execution } = started.json
    assert.deepEqual(execution.statusDetails, { was: '********' })
    assert.deepEqual(execution.jobDocument, { token: 'on-the-line' })
    assert.deepEqual(execution.secrets, { LINE: 'on-the-line' })
    const { jobId } = execution
    await line.request(`${jobId}/output`, { offset: 0, data: 'say on-the-' })
    await line.request(`${jobId}/output`, { offset: 11, data: 'line!\n' })
    await line.request(`${jobId}/update`, { status: 'SUCCEEDED', statusDetails: { end: 'on-the-line' } })
    assert.equal(await outputOf(jobId), 'say ********!\n')
    assert.deepEqual((await call('GET', `executions/${jobId}`)).json.statusDetails, { end: '********' })
  } finally {
    line.end()
  }
})

test('a value with fewer than 6 characters is not masked', async () => {
  const device = await newDevice(api, 'short-1')
  await putSecret('SHORT', 'abcde')
  await putJob('short', { token: '${secrets.SHORT}' })
  const { jobId } = await start('short', device)
  await device.output(Number(jobId), 0, 'abcde')
  assert.equal(await outputOf(jobId), 'abcde')
})
