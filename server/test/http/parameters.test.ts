// Parameters of jobs: declared by a schema, given to a run, filled in when a device gets its document.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { type Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const put = (jobName: string, body: unknown) => api.call('PUT', `/job/api/jobs/${jobName}`, { body })
const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', `/job/api/${path}`, { body, headers })
const get = async (path: string) => (await api.call('GET', `/job/api/${path}`)).json
const putDevice = (deviceId: string, attributes: Record<string, unknown> = {}) =>
  api.call('PUT', `/job/api/devices/${deviceId}`, { body: { deviceName: `Device ${deviceId}`, attributes } })
const problem = { accept: 'application/problem+json' }

const schema = {
  type: 'object',
  properties: {
    version: { type: 'string', pattern: '^[0-9.]+$' },
    retries: { type: 'integer', minimum: 0, default: 3 },
    ports: { type: 'array', items: { type: 'integer' }, default: [80] },
    password: { type: 'string', writeOnly: true },
  },
  required: ['version'],
}
const document = {
  text: 'Install ${params.version} on ${device.deviceName} at ${device.attributes.site:-nowhere}',
  retries: '${params.retries}',
  ports: '${params.ports}',
  run: '${run.runId}',
  who: '${device.deviceId}',
  plain: '$${HOME}',
}
assert.equal((await put('install', { document, parameters: schema })).status, 201)
const device = await newDevice(api, 'p1')
await putDevice('p1', { site: 'berlin' })
await putDevice('p2')

const run = (more: object = {}, jobName = 'install', deviceIds = ['p1']) =>
  post('runs', { jobName, targets: { deviceIds }, ...more })

test('a device gets the document with everything filled in, each value with its type', async () => {
  const made = await run({ parameters: { version: '2.4', ports: [1, 2] } })
  assert.equal(made.status, 201)
  const { runId, parameters } = made.json
  assert.deepEqual(parameters, { version: '2.4', retries: 3, ports: [1, 2] })
  const expected = {
    text: 'Install 2.4 on Device p1 at berlin',
    ...{ retries: 3, ports: [1, 2], run: runId, who: 'p1', plain: '${HOME}' },
  }
  const { execution } = (await device.startNext()).json
  assert.deepEqual(JSON.parse(execution.jobDocument), expected)
  assert.deepEqual(execution.parameters, parameters)
  assert.deepEqual(await get(`executions/${execution.jobId}/document`), expected)
  const described = (await device.call('GET', `/${execution.jobId}?includeJobDocument=true`)).json.execution
  assert.deepEqual(JSON.parse(described.jobDocument), expected)
  const updated = await device.update(execution.jobId, 'IN_PROGRESS', { includeJobDocument: true })
  assert.deepEqual(JSON.parse(updated.json.jobDocument), expected)
  await device.update(execution.jobId, 'SUCCEEDED')
  assert.deepEqual(await get(`runs/${runId}/document`), document)
})

test('over MQTT the notification has it as well', async () => {
  const { deviceId, token } = await newDevice(api, 'p-mqtt')
  await putDevice(deviceId, { site: 'lima' })
  const line = await MqttLine.open(api.server.mqtt, { deviceId, token })
  const notified = new Promise<Json>((resolve) => {
    line.onNotice = (_suffix, json) => json.execution && resolve(json.execution)
  })
  await line.subscribe('notify-next')
  const first = (await run({ parameters: { version: '3' } }, 'install', [deviceId])).json
  const { jobDocument } = await notified
  assert.deepEqual(
    [jobDocument.text, jobDocument.run],
    [`Install 3 on Device ${deviceId} at lima`, first.runId],
  )
  line.end()
})

test('on the trigger call defaults apply, and what is required is J-500 like any other', async () => {
  assertRefused(await api.trigger('install', ['p1']), 'J-500')
  const defaults = { type: 'object', properties: { level: { type: 'integer', default: 7 } } }
  await put('defaults', { document: { level: '${params.level}' }, parameters: defaults })
  const { status, json } = await api.trigger('defaults', ['p1'])
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(json[0]).length, 6)
  assert.deepEqual(await get(`executions/${json[0].jobExecutionId}/document`), { level: 7 })
  // What is optional is required once the document uses it.
  const optional = { type: 'object', properties: { level: { type: 'integer' } } }
  await put('optional', { document: { level: '${params.level}' }, parameters: optional })
  assertRefused(await api.trigger('optional', ['p1']), 'J-500')
  await put('optional', { document: { level: '${params.level:-none}' }, parameters: optional })
  assert.equal((await api.trigger('optional', ['p1'])).status, 201)
})

const refusedValues: [object, string][] = [
  [{}, 'parameters.version'],
  [{ parameters: { version: 2 } }, 'parameters.version'],
  [{ parameters: { version: 'x' } }, 'parameters.version'],
  [{ parameters: { version: '1', retries: '3' } }, 'parameters.retries'],
  [{ parameters: { version: '1', ports: [1, 'x'] } }, 'parameters.ports.1'],
  [{ parameters: { version: '1', other: 1 } }, 'parameters.other'],
  [{ parameters: { version: '1'.repeat(16 * 1024) } }, 'parameters'],
  [{ parameters: [] }, 'parameters'],
  [{ parameters: { version: '1' }, onMissing: 'IGNORE' }, 'onMissing'],
]

test('values of the wrong type, unknown ones and too many bytes are refused at the field', async () => {
  const before = (await get('runs?jobName=install')).items.length
  for (const [more, field] of refusedValues) {
    const body = { jobName: 'install', targets: { deviceIds: ['p1'] }, ...more }
    for (const path of ['runs', 'runs?dryRun=true']) {
      const reply = await post(path, body, problem)
      assert.deepEqual([reply.status, reply.json.code, reply.json.field], [400, 'J-500', field])
    }
  }
  assertRefused(await run({ parameters: { x: 1 } }, 'defaults'), 'J-500')
  assert.equal((await get('runs?jobName=install')).items.length, before)
})

const inProperty = (property: unknown) => ({ parameters: { type: 'object', properties: { x: property } } })
const refusedJobs: [object, string][] = [
  [{ document: { a: '${params.x}' } }, 'document'],
  [{ document: { a: ['${HOME}'] } }, 'document'],
  [{ document: { a: '${params.x' } }, 'document'],
  [{ document: { command: ['sh', '-c', 'echo ${device.deviceId}'] } }, 'document.command'],
  [{ document: { command: 'echo ${device.deviceId}' } }, 'document.command'],
  [{ document: { a: '${device.attributes.a:-${device.attributes.b}}' } }, 'document'],
  [
    { document: { steps: [{ action: { type: 'runCommand', input: { command: 'a,${run.runId}' } } }] } },
    'document.steps',
  ],
  [{ parameters: 'text' }, 'parameters'],
  [{ parameters: {} }, 'parameters.type'],
  [inProperty({ $ref: '#' }), 'parameters.properties.x.type'],
  [inProperty({ type: 'object', properties: {} }), 'parameters.properties.x.type'],
  [inProperty({ type: 'string', pattern: '(a+)+\\1' }), 'parameters.properties.x.pattern'],
  [inProperty({ type: 'string', description: 'x'.repeat(16 * 1024) }), 'parameters'],
]

test('a schema that is none, a recursive or huge one and an undeclared placeholder are refused at the field', async () => {
  for (const [body, field] of refusedJobs) {
    const reply = await api.call('PUT', '/job/api/jobs/refused', { body, headers: problem })
    assert.deepEqual([reply.status, reply.json.code, reply.json.field], [400, 'J-500', field])
  }
  assertRefused(await api.call('GET', '/job/api/jobs/refused'), 'J-301')
})

test('devices that lack an attribute are named by the plan, refuse the call, or are left out', async () => {
  await put('sited', { document: { site: '${device.attributes.site}' } })
  const both = { jobName: 'sited', targets: { deviceIds: ['p1', 'p2'] } }
  const plan = (await post('runs?dryRun=true', both)).json
  assert.deepEqual(plan.document, { site: 'berlin' })
  assert.match(plan.problems[0], /p2 .*: site/)
  const refused = await post('runs', both, problem)
  assert.deepEqual([refused.status, refused.json.code, refused.json.deviceIds], [409, 'J-506', ['p2']])
  assertRefused(await api.trigger('sited', ['p1', 'p2']), 'J-506')
  const skipped = (await post('runs', { ...both, onMissing: 'SKIP' })).json
  assert.equal(skipped.total, 1)
  const selected = { jobName: 'sited', targets: { where: 'deviceId in (p1, p2)' } }
  assertRefused(await post('runs', selected), 'J-506')
  assert.equal((await post('runs', { ...selected, onMissing: 'SKIP' })).json.total, 1)
  const nobody = { jobName: 'sited', targets: { deviceIds: ['p2'] }, onMissing: 'SKIP' }
  for (const targets of [nobody.targets, { where: 'deviceId = p2' }]) {
    const { json } = await post('runs', { ...nobody, targets }, problem)
    assert.deepEqual(
      [json.code, json.detail],
      ['J-504', 'None of the devices has all of these attributes: site.'],
    )
  }
})

test('an attribute that is gone when the device asks ends the execution', async () => {
  const leaving = await newDevice(api, 'p-leaving')
  await putDevice('p-leaving', { site: 'rome' })
  const { json } = await api.trigger('sited', ['p-leaving'])
  await putDevice('p-leaving')
  assert.equal((await leaving.startNext()).status, 410)
  const ended = await get(`executions/${json[0].jobExecutionId}?wait=30`)
  assert.equal(ended.execState, 'CANCELED')
  const reason = 'the device has no attribute site, which the document needs'
  const { items } = await get(`executions/${json[0].jobExecutionId}/history`)
  assert.equal(items.at(-1).reason, reason)
  const { text } = await get(`executions/${json[0].jobExecutionId}/explain`)
  assert.match(text, /^CANCELED at [^ ]+Z: the device has no attribute site, which the document needs\.$/)
})

test('a retry and a rollback carry the parameters', async () => {
  const carrying = await newDevice(api, 'p-carrying')
  const schemaOf = (names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', default: name }])),
  })
  await put('carried', { document: { a: '${params.a}' }, parameters: schemaOf(['a']) })
  await put('carried', { document: { ab: '${params.a}${params.b}' }, parameters: schemaOf(['a', 'b']) })
  const parameters = { a: '1', b: '2' }
  const first = (await run({ parameters }, 'carried', ['p-carrying'])).json
  const { jobId } = (await carrying.startNext()).json.execution
  await carrying.update(jobId, 'FAILED')
  assert.deepEqual((await post(`runs/${first.runId}/retry`)).json.parameters, parameters)
  const back = (await post(`runs/${first.runId}/rollback`)).json
  assert.deepEqual([back.version, back.parameters], [1, { a: '1' }])
})

test('a value that was given as a secret remains secret in versions that declare it otherwise', async () => {
  const keeping = await newDevice(api, 'p-keeping')
  const schemaOf = (more: object) => ({
    type: 'object',
    properties: { token: { type: 'string', ...more }, n: { type: 'integer', default: 1 } },
  })
  const versions = [{}, { writeOnly: true }, { default: 'none' }].map((more, index) => ({
    ...{ document: { index, login: '${params.token}', n: '${params.n}' }, parameters: schemaOf(more) },
  }))
  for (const version of versions) await put('kept', version)
  const masked = { token: '********', n: 1 }
  const shown = async ({ runId, parameters }: Json) => {
    const { execution } = (await keeping.startNext()).json
    assert.equal(execution.parameters.token, 'hunter2')
    assert.equal(JSON.parse(execution.jobDocument).login, 'hunter2')
    const found = await get(`executions/${execution.jobId}/document`)
    assert.deepEqual([parameters, found.login], [masked, '********'])
    assert.deepEqual((await get(`runs/${runId}`)).parameters, masked)
    await keeping.update(execution.jobId, 'FAILED')
    return runId
  }
  const given = { version: 2, parameters: { token: 'hunter2' } }
  const first = await shown((await run(given, 'kept', ['p-keeping'])).json)
  const back = await shown((await post(`runs/${first}/rollback`)).json)
  const newest = await shown((await post(`runs/${first}/retry`, { version: 'NEWEST' })).json)
  // Of the third version's runs, whose schema knows of no secret.
  await shown((await post(`runs/${newest}/retry`)).json)
  await shown((await post(`runs/${newest}/rollback`, { toVersion: 1 })).json)
  await shown((await post(`runs/${back}/retry`, { version: 'NEWEST' })).json)
  const seen = JSON.stringify([await get('runs?limit=200'), await get('executions?limit=200')])
  assert.ok(!seen.includes('hunter2'))
})

test('the plan has the document of the first device', async () => {
  const body = { jobName: 'install', targets: { deviceIds: ['p1'] }, parameters: { version: '9' } }
  const plan = (await post('runs?dryRun=true', body)).json
  assert.deepEqual([plan.document.text, plan.problems], ['Install 9 on Device p1 at berlin', []])
})

test('a schedule gives values to its runs, and keeps no secret', async () => {
  const putSchedule = (parameters?: object) =>
    api.call('PUT', '/job/api/schedules/nightly', {
      body: {
        ...{ jobName: 'install', targets: { deviceIds: ['p1', 'p2'] }, when: { cron: '0 3 * * *' } },
        ...(parameters && { parameters }),
      },
      headers: problem,
    })
  const refused: [object | undefined, string][] = [
    [undefined, 'parameters.version'],
    [{ version: 1 }, 'parameters.version'],
    [{ version: '1', password: 'x' }, 'parameters.password'],
  ]
  for (const [parameters, field] of refused) {
    const reply = await putSchedule(parameters)
    assert.deepEqual([reply.status, reply.json.code, reply.json.field], [400, 'J-500', field])
  }
  assert.deepEqual((await putSchedule({ version: '7' })).json.parameters, { version: '7' })
  const fired = await post('schedules/nightly/fire')
  assert.ok(fired.status < 300, fired.text)
  const { items } = await get('runs?jobName=install&limit=1')
  assert.deepEqual([items[0].scheduleName, items[0].parameters.version], ['nightly', '7'])
})

test('patterns that are too large together are refused at the one that is too much', async () => {
  const pattern = { type: 'string', pattern: 'a{900}' }
  const properties = { one: pattern, two: pattern, three: pattern, four: pattern }
  const large = (more: object) => {
    const body = { document: {}, parameters: { type: 'object', ...more } }
    return api.call('PUT', '/job/api/jobs/large-patterns', { body, headers: problem })
  }
  assert.equal((await large({ properties })).status, 201)
  const five = { type: 'array', items: pattern }
  const refused = await large({ properties: { ...properties, five } })
  assert.equal(refused.json.field, 'parameters.properties.five.items.pattern')
})

test('a value that takes too many steps to match is refused, in a put and in a run', async () => {
  const slow = { type: 'string', pattern: '(?:a|){240}b' }
  const text = 'a'.repeat(15_000)
  const withText = (more: object) => ({
    document: {},
    parameters: { type: 'object', properties: { text: { ...slow, ...more } } },
  })
  const refusedPut = await api.call('PUT', '/job/api/jobs/slow', {
    body: withText({ default: text }),
    headers: problem,
  })
  assert.equal(refusedPut.json.field, 'parameters.properties.text.default')
  assert.equal((await put('slow', withText({}))).status, 201)
  const refused = await post(
    'runs',
    { jobName: 'slow', targets: { deviceIds: ['p1'] }, parameters: { text } },
    problem,
  )
  assert.equal(refused.json.field, 'parameters.text')
  assert.equal((await run({ parameters: { text: `${'a'.repeat(100)}b` } }, 'slow')).status, 201)
})
