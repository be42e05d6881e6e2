// Where implementations of the device protocol differ from each other, and devices break on the difference.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import type { IClientOptions } from 'mqtt'
import type { Json } from './support/device-client.ts'
import { assertNow, refusalOf } from './support/exercise-device.ts'
import { connectMqttJs, type MqttJsLink } from './support/mqtt-js-link.ts'
import {
  cancel,
  newDeviceId,
  putJob,
  readExecution,
  seedDevice,
  trigger,
  waitForEnd,
} from './support/seed.ts'
import { openTopicDevice, type TopicDevice } from './support/topic-device.ts'

const api = await openSharedServer()
const document = { operation: 'install', nested: { list: [1, 2.5, null, true], text: 'wïth 🚪' } }
await putJob(api, 'job', { document })

type Opened = {
  deviceId: string
  token: string
  link: MqttJsLink
  device: TopicDevice
  triggerNext(jobName?: string): Promise<string>
}

async function open(t: TestContext, options: IClientOptions = {}): Promise<Opened> {
  const deviceId = newDeviceId()
  const token = await seedDevice(api, deviceId)
  const link = await connect(t, deviceId, token, options)
  const device = await openTopicDevice(deviceId, link, { notices: false })
  return { deviceId, token, link, device, triggerNext: (jobName = 'job') => trigger(api, jobName, deviceId) }
}

function connect(t: TestContext, username: string, password: string, options: IClientOptions = {}) {
  return connectMqttJs(t, api.server.mqtt, { username, password, protocolVersion: 5, ...options })
}

test('times are whole seconds since 1970, in every answer', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const { queuedJobs, timestamp } = await device.getPending()
  assertNow(timestamp, queuedJobs[0].queuedAt, queuedJobs[0].lastUpdatedAt)
  assert.ok(!('startedAt' in queuedJobs[0]), 'it has not started')
  const queued = await device.describe(jobId)
  assertNow(queued.timestamp, queued.execution.queuedAt, queued.execution.lastUpdatedAt)
  assert.ok(!('startedAt' in queued.execution), 'it has not started')
  const { execution, ...started } = await device.startNext()
  assertNow(started.timestamp, execution.queuedAt, execution.startedAt, execution.lastUpdatedAt)
  assertNow((await device.getPending()).inProgressJobs[0].startedAt)
  assertNow((await device.update(jobId, { status: 'SUCCEEDED' })).timestamp)
  assertNow((await refusalOf(device.describe(jobId))).answer.timestamp)
})

test('numbers and booleans may come as texts', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const { execution } = await device.startNext({ stepTimeoutInMinutes: '5' })
  assertSecondsLeft(execution, 300)
  const described = await device.describe(jobId, { executionNumber: '1', includeJobDocument: 'false' })
  assert.ok(!('jobDocument' in described.execution))
  const refusal = await refusalOf(device.update(jobId, { status: 'SUCCEEDED', expectedVersion: '1' }))
  assert.equal(refusal.code, 'VersionMismatch')
  const fields = { expectedVersion: '2', executionNumber: '1', includeJobExecutionState: 'true' }
  const { executionState } = await device.update(jobId, { status: 'SUCCEEDED', ...fields })
  assert.deepEqual(executionState, { status: 'SUCCEEDED', statusDetails: {}, versionNumber: 3 })
})

test('absent fields have their defaults, and responses have no further fields', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  for (const payload of ['', '{}']) {
    const { accepted, body } = await device.ask('get', payload)
    assert.ok(accepted)
    assert.deepEqual(Object.keys(body).sort(), ['inProgressJobs', 'queuedJobs', 'timestamp'])
    const described = await device.ask(`${jobId}/get`, payload)
    assert.deepEqual(Object.keys(described.body).sort(), ['execution', 'timestamp'])
    assert.deepEqual(described.body.execution.jobDocument, document)
    const started = await device.ask('start-next', payload)
    assert.deepEqual(Object.keys(started.body).sort(), ['execution', 'timestamp'])
  }
  const { body } = await device.ask(`${jobId}/update`, { status: 'IN_PROGRESS' })
  assert.deepEqual(Object.keys(body), ['timestamp'])
})

test('unknown fields are ignored, also thingName and jobId in the payload', async (t) => {
  const { deviceId, device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const { execution } = await device.startNext({ thingName: 'another', future: { a: 1 } })
  assert.deepEqual([execution.jobId, execution.thingName], [jobId, deviceId])
  await device.update(jobId, { jobId: '1', thingName: 'another', status: 'SUCCEEDED' })
  assert.equal((await readExecution(api, jobId)).execState, 'SUCCEEDED')
})

test('clientToken is returned unchanged, and absent if none was sent', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const asked = [
    ['get', {}],
    ['$next/get', {}],
    ['start-next', {}],
    [`${jobId}/get`, {}],
    [`${jobId}/update`, { status: 'IN_PROGRESS' }],
    [`${jobId}/update`, { status: 'IN_PROGRESS', expectedVersion: 99 }],
    [`${jobId}/update`, { status: 'NO_SUCH_STATUS' }],
    ['999999999/get', {}],
    ['999999999/update', { status: 'FAILED' }],
  ] as const
  for (const [suffix, fields] of asked) {
    for (const clientToken of ['a', '⚙ with blanks', 'x'.repeat(64)]) {
      const { body } = await device.ask(suffix, { ...fields, clientToken })
      assert.equal(body.clientToken, clientToken, suffix)
    }
    assert.ok(!('clientToken' in (await device.ask(suffix, fields)).body), suffix)
  }
})

test('with nothing pending, execution is absent and not null', async (t) => {
  const { device } = await open(t)
  for (const suffix of ['start-next', '$next/get']) {
    const { accepted, body } = await device.ask(suffix, {})
    assert.ok(accepted)
    assert.deepEqual(Object.keys(body), ['timestamp'])
  }
  const { inProgressJobs, queuedJobs } = await device.getPending()
  assert.deepEqual([inProgressJobs, queuedJobs], [[], []])
})

test('the document is an object over MQTT and a text over HTTP', async (t) => {
  const { deviceId, token, device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const { execution } = await device.startNext()
  assert.deepEqual(execution.jobDocument, document)
  const overHttp = async (method: string, path: string, body?: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${token}` }
    const reply = await api.call(method, `/things/${deviceId}/jobs/${path}`, { key: '', headers, body })
    assert.equal(reply.status, 200, reply.text)
    return reply.json
  }
  const answers = [
    (await overHttp('PUT', '$next', {})).execution,
    (await overHttp('PUT', '%24next', {})).execution,
    (await overHttp('GET', '%24next?includeJobDocument=true')).execution,
    (await overHttp('GET', `${jobId}?includeJobDocument=true`)).execution,
    await overHttp('POST', jobId, { status: 'IN_PROGRESS', includeJobDocument: true }),
  ]
  for (const { jobDocument } of answers) {
    assert.equal(typeof jobDocument, 'string')
    assert.deepEqual(JSON.parse(jobDocument), document)
  }
  assert.ok(!('jobDocument' in (await overHttp('GET', jobId)).execution))
})

test('statusDetails are kept when none are given, and are replaced when some are', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  await device.startNext({ statusDetails: { step: 'one', percent: '10' } })
  const details = async (fields: object) => {
    const update = { status: 'IN_PROGRESS', includeJobExecutionState: true, ...fields }
    return (await device.update(jobId, update)).executionState.statusDetails
  }
  assert.deepEqual(await details({}), { step: 'one', percent: '10' })
  assert.deepEqual(await details({ statusDetails: { step: 'two' } }), { step: 'two' })
  await device.update(jobId, { status: 'SUCCEEDED' })
  assert.deepEqual((await readExecution(api, jobId)).statusDetails, { step: 'two' })
})

test('start-next gives what is in progress again with its details, also after a reconnect', async (t) => {
  const { deviceId, token, device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  await triggerNext()
  await device.startNext({ statusDetails: { step: 'download' } })
  const again = (await device.startNext({ statusDetails: { step: 'other' } })).execution
  assert.deepEqual(again.statusDetails, { step: 'download' })
  assert.deepEqual([again.jobId, again.status, again.versionNumber], [jobId, 'IN_PROGRESS', 2])

  const back = await openTopicDevice(deviceId, await connect(t, deviceId, token))
  const recovered = (await back.startNext()).execution
  assert.deepEqual(recovered.statusDetails, { step: 'download' })
  assert.deepEqual([recovered.jobId, recovered.versionNumber], [jobId, 2])
})

test('IN_PROGRESS comes before QUEUED, then the older one', async (t) => {
  const { device, triggerNext } = await open(t)
  const [first, second, third] = [await triggerNext(), await triggerNext(), await triggerNext()]
  assert.equal((await device.describe('$next')).execution.jobId, first)
  await device.update(third, { status: 'IN_PROGRESS' })
  assert.equal((await device.describe('$next')).execution.jobId, third)
  await device.update(second, { status: 'IN_PROGRESS' })
  assert.equal((await device.startNext()).execution.jobId, second)
  const { inProgressJobs, queuedJobs } = await device.getPending()
  const ids = (list: Json) => list.map(({ jobId }: Json) => jobId)
  assert.deepEqual([ids(inProgressJobs), ids(queuedJobs)], [[second, third], [first]])
})

test('versionNumber is 1 while QUEUED and grows by one with every change', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const versionOf = async () => (await device.describe(jobId)).execution.versionNumber
  assert.equal(await versionOf(), 1)
  await device.startNext()
  assert.equal(await versionOf(), 2)
  await device.startNext()
  assert.equal(await versionOf(), 2)
  await device.update(jobId, { status: 'IN_PROGRESS', statusDetails: { a: '1' } })
  assert.equal(await versionOf(), 3)
  await refusalOf(device.update(jobId, { status: 'IN_PROGRESS', expectedVersion: 2 }))
  assert.equal(await versionOf(), 3)
  const fields = { status: 'SUCCEEDED', expectedVersion: 3, includeJobExecutionState: true }
  assert.equal((await device.update(jobId, fields)).executionState.versionNumber, 4)
})

test('a step timer shows in approximateSecondsBeforeTimedOut; a new one replaces it, -1 discards it', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  assert.ok(!('approximateSecondsBeforeTimedOut' in (await device.describe(jobId)).execution))
  const { execution } = await device.startNext({ stepTimeoutInMinutes: 5 })
  assertSecondsLeft(execution, 300)
  assertSecondsLeft((await device.describe('$next')).execution, 300)
  await device.update(jobId, { status: 'IN_PROGRESS', stepTimeoutInMinutes: 10 })
  assertSecondsLeft((await device.describe(jobId)).execution, 600)
  await device.update(jobId, { status: 'IN_PROGRESS' })
  assertSecondsLeft((await device.describe(jobId)).execution, 600)
  await device.update(jobId, { status: 'IN_PROGRESS', stepTimeoutInMinutes: -1 })
  assert.ok(!('approximateSecondsBeforeTimedOut' in (await device.describe(jobId)).execution))
  for (const stepTimeoutInMinutes of [0, -2, 10_081, 1.5, 'soon']) {
    const fields = { status: 'IN_PROGRESS', stepTimeoutInMinutes }
    assert.equal((await refusalOf(device.update(jobId, fields))).code, 'InvalidRequest')
  }
})

test("the job's own timeout shows too", async (t) => {
  await putJob(api, 'timed', { timeoutSeconds: 1200 })
  const { device, triggerNext } = await open(t)
  await triggerNext('timed')
  assertSecondsLeft((await device.startNext()).execution, 1200)
})

test('at most 10 pending are shown, the first ones', async (t) => {
  const { device, triggerNext } = await open(t)
  const ids: string[] = []
  for (let count = 0; count < 12; count += 1) ids.push(await triggerNext())
  const shown = async () => {
    const { inProgressJobs, queuedJobs } = await device.getPending()
    return [...inProgressJobs, ...queuedJobs].map(({ jobId }: Json) => jobId)
  }
  assert.deepEqual(await shown(), ids.slice(0, 10))
  await device.subscribe('notify')
  assert.equal((await device.notify.take()).jobs.QUEUED.length, 10)
  await device.update(ids[11] as string, { status: 'IN_PROGRESS' })
  assert.deepEqual(await shown(), [ids[11], ...ids.slice(0, 9)])
  await device.update(ids[0] as string, { status: 'SUCCEEDED' })
  assert.deepEqual(await shown(), [ids[11], ...ids.slice(1, 10)])
})

test('executionNumber is the attempt: reports of an earlier attempt have no effect', async (t) => {
  await putJob(api, 'retried', { retry: { max: 1, backoffSeconds: 0 } })
  const { device, triggerNext } = await open(t)
  await device.subscribe('notify-next')
  const jobId = await triggerNext('retried')
  assert.equal((await device.notifyNext.take()).execution.executionNumber, 1)
  await device.startNext()
  await device.update(jobId, { status: 'FAILED', executionNumber: 1 })
  let execution: Json
  // It may be told first that nothing is pending, while the execution rests.
  do ({ execution } = await device.notifyNext.take())
  while (execution === undefined)
  assert.deepEqual([execution.jobId, execution.executionNumber, execution.status], [jobId, 2, 'QUEUED'])

  assert.equal((await device.startNext()).execution.executionNumber, 2)
  const late = refusalOf(device.update(jobId, { status: 'SUCCEEDED', executionNumber: 1 }))
  assert.equal((await late).code, 'ResourceNotFound')
  assert.equal((await refusalOf(device.describe(jobId, { executionNumber: 1 }))).code, 'ResourceNotFound')
  assert.equal((await device.describe(jobId, { executionNumber: 2 })).execution.status, 'IN_PROGRESS')
  await device.update(jobId, { status: 'FAILED', executionNumber: 2 })
  assert.equal((await readExecution(api, jobId)).execState, 'FAILED')
})

test('an execution that waits for its retry is not offered before its time', async (t) => {
  await putJob(api, 'rests', { retry: { max: 1, backoffSeconds: 3600 } })
  const rounds = Array.from({ length: 20 }, async () => {
    const { device, triggerNext } = await open(t)
    await device.subscribe('notify', 'notify-next')
    const jobId = await triggerNext('rests')
    await device.notifyNext.take()
    await device.notify.take()
    // At once one after the other: the notices of the start must not show the end, either.
    await Promise.all([device.startNext(), device.update(jobId, { status: 'FAILED' })])
    assert.deepEqual(Object.keys(await device.notifyNext.take()), ['timestamp'])
    assert.deepEqual((await device.notify.take()).jobs, {})
    assert.ok(!('execution' in (await device.startNext())))
  })
  await Promise.all(rounds)
})

test('the document comes with describe unless it is not wanted, and with update only if it is', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  for (const id of [jobId, '$next']) {
    assert.deepEqual((await device.describe(id)).execution.jobDocument, document)
    assert.deepEqual(
      (await device.describe(id, { includeJobDocument: true })).execution.jobDocument,
      document,
    )
    const { execution } = await device.describe(id, { includeJobDocument: false })
    assert.ok(!('jobDocument' in execution))
    assert.equal(execution.jobId, jobId)
  }
  const asked = { status: 'IN_PROGRESS', includeJobExecutionState: true, includeJobDocument: true }
  const { body } = await device.ask(`${jobId}/update`, asked)
  assert.deepEqual(Object.keys(body).sort(), ['executionState', 'jobDocument', 'timestamp'])
  assert.deepEqual(body.jobDocument, document)
  assert.deepEqual(body.executionState, { status: 'IN_PROGRESS', statusDetails: {}, versionNumber: 2 })
})

const badDetails: [why: string, statusDetails: unknown][] = [
  ['an array', ['a']],
  ['a text', 'a'],
  ['a number', 7],
  ['a value that is a number', { a: 1 }],
  ['a value that is null', { a: null }],
  ['a value that is an object', { a: {} }],
  ['an empty value', { a: '' }],
  ['a value of 1,025 characters', { a: 'x'.repeat(1025) }],
  ['a value with a line break', { a: 'one\ntwo' }],
  ['a value with NUL', { a: '\0' }],
  ['an empty name', { '': 'x' }],
  ['a name of 129 characters', { ['x'.repeat(129)]: 'x' }],
  ['a name with a blank', { 'a b': 'x' }],
  ['a name with an umlaut', { ä: 'x' }],
]
test('statusDetails outside the limits are InvalidRequest, and change nothing', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  for (const [why, statusDetails] of badDetails) {
    const update = { status: 'IN_PROGRESS', statusDetails }
    assert.equal((await refusalOf(device.update(jobId, update))).code, 'InvalidRequest', why)
    assert.equal((await refusalOf(device.startNext({ statusDetails }))).code, 'InvalidRequest', why)
  }
  assert.equal((await device.describe(jobId)).execution.versionNumber, 1)
  const statusDetails = { ['Az09:_-'.padEnd(128, 'x')]: 'x'.repeat(1024), unicode: 'ünï 🚪' }
  await device.update(jobId, { status: 'SUCCEEDED', statusDetails })
  assert.deepEqual((await readExecution(api, jobId)).statusDetails, statusDetails)
})

test('a status that no device can report is InvalidRequest', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  for (const status of [undefined, null, 7, '', 'QUEUED', 'PENDING', 'TIMED_OUT', 'REMOVED', 'succeeded']) {
    const refusal = await refusalOf(device.update(jobId, { status }))
    assert.equal(refusal.code, 'InvalidRequest', `${status}`)
    assert.ok(!('executionState' in refusal.answer))
  }
})

test('CANCELED is InvalidStateTransition unless a cancel was asked for', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  await device.startNext()
  const refusal = await refusalOf(device.update(jobId, { status: 'CANCELED' }))
  assert.equal(refusal.code, 'InvalidStateTransition')
  assert.equal(refusal.answer.executionState.status, 'IN_PROGRESS')
  await cancel(api, jobId)
  await device.update(jobId, { status: 'CANCELED' })
})

test('reports of a device during a cancel are accepted', async (t) => {
  const { device, triggerNext } = await open(t)
  for (const status of ['SUCCEEDED', 'FAILED', 'REJECTED']) {
    const jobId = await triggerNext()
    await device.startNext()
    await cancel(api, jobId)
    await device.update(jobId, { status: 'IN_PROGRESS', statusDetails: { step: 'cleaning-up' } })
    await device.update(jobId, { status })
    const { execState, statusDetails } = await readExecution(api, jobId)
    assert.deepEqual([execState, statusDetails], [status, { step: 'cleaning-up' }])
  }
})

const badPayloads: [why: string, payload: string | Buffer, code: string][] = [
  ['not JSON', 'hello', 'InvalidJson'],
  ['half of it', '{"status":', 'InvalidJson'],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'InvalidJson'],
  ['an array', '[]', 'InvalidRequest'],
  ['null', 'null', 'InvalidRequest'],
  ['a text', '"a"', 'InvalidRequest'],
  ['a clientToken that is a number', '{"clientToken":1}', 'InvalidRequest'],
]
test('a payload that is not JSON is InvalidJson, one that is no object InvalidRequest', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  for (const [why, payload, code] of badPayloads) {
    for (const suffix of ['get', 'start-next', `${jobId}/get`, `${jobId}/update`]) {
      const { accepted, body } = await device.ask(suffix, payload)
      assert.ok(!accepted, `${suffix}: ${why}`)
      assert.deepEqual([body.code, typeof body.message], [code, 'string'], `${suffix}: ${why}`)
      assertNow(body.timestamp)
    }
  }
  assert.equal((await device.describe(jobId)).execution.status, 'QUEUED')
})

test('a topic that names no operation is InvalidTopic', async (t) => {
  const { device } = await open(t)
  await device.subscribe('#')
  for (const suffix of ['nothing', '1/nothing', 'start', '1/get/more', '$next/update', '1/update/twice']) {
    const { accepted, body } = await device.ask(suffix, { clientToken: 'c' })
    assert.ok(!accepted)
    assert.deepEqual([body.code, body.clientToken], ['InvalidTopic', 'c'], suffix)
  }
})

test('EXPIRED shows as TIMED_OUT, CANCELING as IN_PROGRESS', async (t) => {
  await putJob(api, 'expires', { expireAfterSeconds: 1 })
  const { device, triggerNext } = await open(t)
  const expired = await triggerNext('expires')
  assert.equal((await waitForEnd(api, expired)).execState, 'EXPIRED')
  const refusal = await refusalOf(device.update(expired, { status: 'SUCCEEDED' }))
  assert.equal(refusal.code, 'InvalidStateTransition')
  assert.equal(refusal.answer.executionState.status, 'TIMED_OUT')

  const jobId = await triggerNext()
  await device.startNext()
  await cancel(api, jobId)
  assert.equal((await device.describe('$next')).execution.status, 'IN_PROGRESS')
  assert.equal((await device.getPending()).inProgressJobs[0].jobId, jobId)
  await device.update(jobId, { status: 'FAILED' })
})

test('a device may finish what it has not started', async (t) => {
  const { device, triggerNext } = await open(t)
  for (const status of ['SUCCEEDED', 'FAILED', 'REJECTED']) {
    const jobId = await triggerNext()
    await device.update(jobId, { status, expectedVersion: 1 })
    assert.equal((await readExecution(api, jobId)).execState, status)
  }
})

test('every way to subscribe that clients use is granted', async (t) => {
  const { deviceId, link } = await open(t)
  const suffixes = [
    ...['get/accepted', 'get/rejected', 'get/+', 'get/#', 'start-next/accepted', 'start-next/+'],
    ...['$next/get/accepted', '$next/get/rejected', '$next/get/+', '7/get/+', '7/get/accepted'],
    ...['7/update/+', '7/update/rejected', '+/get/+', '+/get/accepted', '+/update/accepted', '+/update/+'],
    ...['notify', 'notify-next', '7/cancel', '+/cancel', '7/output/+', '+', '+/+/+', '#'],
  ]
  for (const suffix of suffixes) {
    for (const qos of [0, 1] as const) {
      const [granted] = await link.client.subscribeAsync(`$aws/things/${deviceId}/jobs/${suffix}`, { qos })
      assert.equal(granted?.qos, qos, suffix)
    }
  }
})

for (const protocolVersion of [4, 5] as const) {
  const name = `MQTT ${protocolVersion === 4 ? '3.1.1' : '5'}`
  test(`${name}: a device cannot subscribe outside its own topics`, async (t) => {
    const { deviceId, link } = await open(t, { protocolVersion })
    const other = newDeviceId()
    await seedDevice(api, other)
    const filters = [
      ...['#', '+/things/+/jobs/#', '$aws/#', '$aws/things/+/jobs/notify', '$SYS/#', 'a/b', 'a'],
      ...[`$aws/things/${other}/jobs/#`, `$aws/things/${other}/jobs/notify`, '$aws/things/nobody/jobs/#'],
      ...[`$aws/things/${deviceId}x/jobs/#`, `$aws/things/${other}/shadow/#`, '$aws/events/#'],
    ]
    for (const filter of filters) {
      await assert.rejects(link.client.subscribeAsync(filter, { qos: 1 }), filter)
    }
    assert.ok(link.client.connected, 'a refusal is no reason to close')
  })

  test(`${name}: a device cannot publish outside its own topics, and nothing changes`, async (t) => {
    const victim = await open(t)
    const jobId = await victim.triggerNext()
    const { client } = (await open(t, { protocolVersion })).link
    const topic = `$aws/things/${victim.deviceId}/jobs/${jobId}/update`
    const published = assert.rejects(client.publishAsync(topic, '{"status":"FAILED"}', { qos: 1 }))
    // MQTT 3.1.1 has no word for it but to close; then mqtt.js gives the publish up when it is ended.
    if (protocolVersion === 4) {
      await new Promise<void>((resolve) => client.once('close', () => resolve()))
      await client.endAsync(true)
    }
    await published
    assert.equal((await victim.device.describe(jobId)).execution.status, 'QUEUED')
  })
}

test('responses are sent to the requesting connection only', async (t) => {
  const [one, other] = [await open(t), await open(t)]
  const jobId = await one.triggerNext()
  assert.equal((await refusalOf(other.device.describe(jobId))).code, 'ResourceNotFound')
  const refusal = await refusalOf(other.device.update(jobId, { status: 'FAILED' }))
  assert.equal(refusal.code, 'ResourceNotFound')
  assert.ok(!('executionState' in refusal.answer))
  assert.equal((await one.device.describe(jobId)).execution.status, 'QUEUED')
})

test('the user name may contain the suffix of the AWS SDKs', async (t) => {
  const { deviceId, token } = await open(t)
  for (const appended of [
    '?SDK=JavaScript&Version=2.2.16',
    '?',
    '?SDK=IoTDeviceSDK/JS&Metadata=(a=1;b=F/3,G/A)',
  ]) {
    const device = await openTopicDevice(deviceId, await connect(t, deviceId + appended, token))
    assert.deepEqual((await device.getPending()).queuedJobs, [])
  }
  await assert.rejects(connect(t, `${deviceId}x?SDK=JavaScript`, token))
  await assert.rejects(connect(t, deviceId, `${token}x`))
})

function assertSecondsLeft({ approximateSecondsBeforeTimedOut: left }: Json, about: number): void {
  assert.ok(Number.isInteger(left), `${left}`)
  assert.ok(left <= about && left > about - 60, `${left} is not about ${about}`)
}

test('in a frozen fleet, an execution that is named by its id is not found either', async (t) => {
  const { device, triggerNext } = await open(t)
  const jobId = await triggerNext()
  const freeze = (method: 'POST' | 'DELETE') =>
    api.call(method, '/job/api/fleet/freeze', { ...(method === 'POST' && { body: { reason: 'a test' } }) })
  assert.equal((await freeze('POST')).status, 200)
  t.after(() => freeze('DELETE'))
  assert.deepEqual((await device.getPending()).queuedJobs, [])
  assert.equal((await device.startNext()).execution, undefined)
  for (const status of ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED'])
    assert.equal((await refusalOf(device.update(jobId, { status }))).code, 'ResourceNotFound')
  assert.equal((await refusalOf(device.describe(jobId))).code, 'ResourceNotFound')
  assert.equal((await freeze('DELETE')).status, 204)
  assert.equal((await device.startNext()).execution.jobId, jobId)
  await device.update(jobId, { status: 'SUCCEEDED' })
})
