// Successful POST /job/api/jobs/execute: the exact bytes of the 201.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { rawRequest } from '@jobcast/testkit/raw-request'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer({ now: () => Date.parse('2026-11-15T09:30:00.987Z') })
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'])
await api.call('PUT', '/job/api/devices/d4', { body: { deviceName: 'Gate "north" ✓ 🚪' } })

type Triggered = { jobExecutionId: number; deviceId: string }
const idsOf = (executions: Triggered[]) => executions.map((execution) => execution.jobExecutionId)
const devicesOf = (executions: Triggered[]) => executions.map((execution) => execution.deviceId)

test('answers 201 with the six fields of the execution, its run as Location and nothing else', async () => {
  const reply = await api.trigger('update', ['d4'])
  const { jobExecutionId, launchedAt } = reply.json[0]
  assert.equal(reply.status, 201)
  // On PostgreSQL all nodes have the database's clock.
  if (process.env.JOBCAST_TEST_STORE !== 'postgres') assert.equal(launchedAt, '2026-11-15T09:30:00')
  assert.match(launchedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  assert.equal(
    reply.text,
    `[{"jobExecutionId":${jobExecutionId},"jobName":"update","deviceId":"d4",` +
      `"deviceName":"Gate \\"north\\" ✓ 🚪","execState":"PENDING","launchedAt":"${launchedAt}"}]`,
  )
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(reply.text)))
  assert.match(reply.headers.get('location') ?? '', /^\/job\/api\/runs\/[1-9]\d*$/)
})

test('Location leads to the run, and each jobExecutionId to its execution', async () => {
  const reply = await api.trigger('update', ['d1', 'd2'])
  const run = await api.call('GET', reply.headers.get('location') ?? '')
  assert.equal(run.status, 200)
  assert.equal(run.json.total, 2)
  for (const triggered of reply.json) {
    const { json } = await api.call('GET', `/job/api/executions/${triggered.jobExecutionId}`)
    assert.deepEqual({ ...json, ...triggered }, json)
    assert.equal(json.runId, run.json.runId)
  }
})

test('answers in the order of the request', async () => {
  const reply = await api.trigger('update', ['d3', 'd1', 'd4', 'd2'])
  assert.deepEqual(devicesOf(reply.json), ['d3', 'd1', 'd4', 'd2'])
})

test('makes one execution for a device named twice, at the place where it was named first', async () => {
  const reply = await api.trigger('update', ['d2', 'd1', 'd2', 'd3', 'd1', 'd2'])
  assert.deepEqual(devicesOf(reply.json), ['d2', 'd1', 'd3'])
  const run = await api.call('GET', reply.headers.get('location') ?? '')
  assert.equal(run.json.total, 3)
})

test('gives jobExecutionIds that only grow, within a call and from call to call', async () => {
  const first = idsOf((await api.trigger('update', ['d3', 'd2', 'd1'])).json)
  await api.trigger('update', ['d1', 'unknown'])
  const second = idsOf((await api.trigger('update', ['d1', 'd2'])).json)
  const ids = [...first, ...second]
  assert.deepEqual(
    ids.toSorted((a, b) => a - b),
    ids,
  )
  assert.ok(ids.every(Number.isSafeInteger))
})

test('gives each of 50 calls at once ids and a run of its own', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => api.trigger('update', ['d1', 'd2'])))
  assert.ok(replies.every((reply) => reply.status === 201))
  const ids = replies.flatMap((reply) => idsOf(reply.json))
  assert.equal(new Set(ids).size, 100)
  assert.equal(new Set(replies.map((reply) => reply.headers.get('location'))).size, 50)
})

test('ignores fields it does not know, whatever is in them', async () => {
  const body = {
    ownerId: 'ow_other',
    execState: 'SUCCEEDED',
    JobName: 7,
    more: { text: '\u0000\ud800', list: [null, ''] },
    jobName: 'update',
    deviceIds: ['d1'],
  }
  const reply = await api.call('POST', '/job/api/jobs/execute', { body })
  assert.equal(reply.status, 201)
  assert.equal(reply.json[0].execState, 'PENDING')
})

const spellings = [
  { title: 'charset=utf-8', contentType: 'application/json; charset=utf-8' },
  { title: 'CHARSET="UTF-8" without a blank', contentType: 'Application/JSON;CHARSET="UTF-8"' },
]
for (const { title, contentType } of spellings) {
  test(`takes a content type with ${title}`, async () => {
    const reply = await api.trigger('update', ['d1'], { headers: { 'content-type': contentType } })
    assert.equal(reply.status, 201)
  })
}

test('ignores one byte order mark', async () => {
  const rawBody = '\ufeff{"jobName":"update","deviceIds":["d1"]}'
  const reply = await api.call('POST', '/job/api/jobs/execute', { rawBody })
  assert.equal(reply.status, 201)
})

test('takes a caller that waits for 100 Continue, and one that expects what we do not know', async () => {
  const body = '{"jobName":"update","deviceIds":["d1"]}'
  const send = (expect: string) =>
    sendRaw(api.http, rawRequest(api.adminKey, { headers: [`Expect: ${expect}`], body }))
  assert.match((await send('100-continue')).text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
  assert.equal((await send('the-unexpected')).status, 201)
})

test('takes names of 128 characters, also of four bytes each, and up to 32 levels of nesting', async () => {
  const longest = '🚪'.repeat(128)
  await api.putJobAndDevices(longest, [longest])
  const nested = JSON.parse(`${'['.repeat(31)}${']'.repeat(31)}`)
  const body = { jobName: longest, deviceIds: [longest], nested }
  const reply = await api.call('POST', '/job/api/jobs/execute', { body })
  assert.equal(reply.status, 201)
  assert.equal(reply.json[0].deviceId, longest)
})
