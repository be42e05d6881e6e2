// Accept: application/problem+json returns RFC 9457 with the same code and a detailed description.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions } from '@jobcast/testkit/call-api'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1'])
const headers = { accept: 'application/problem+json' }
const trigger = (jobName: unknown, deviceIds: unknown, more: CallOptions = {}) =>
  api.trigger(jobName, deviceIds, { headers, ...more })

test('has type, title, message, status, code and the request id, which is that of the header', async () => {
  const reply = await trigger('nowhere', ['d1'])
  assert.equal(reply.status, 404)
  assert.equal(reply.headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.deepEqual(reply.json, {
    type: 'about:blank',
    title: 'Job not found',
    message: 'Job not found',
    status: 404,
    code: 'J-301',
    requestId: reply.headers.get('x-request-id'),
  })
})

test('J-804 names the scope in its title', async () => {
  const { apiKey } = await api.newKey([])
  const { json } = await trigger('update', ['d1'], { key: apiKey })
  assert.equal(json.title, 'API key does not have the required permission: TRIGGER')
})

test('J-001 names the devices that were not found, in order and once', async () => {
  const { json } = await trigger('update', ['zz', 'd1', 'aa', 'zz'])
  assert.equal(json.code, 'J-001')
  assert.deepEqual(json.deviceIds, ['zz', 'aa'])
})

test('J-001 names no more than 100 devices', async () => {
  const unknown = Array.from({ length: 150 }, (_, i) => `x${i}`)
  const { json } = await trigger('update', ['d1', ...unknown])
  assert.deepEqual(json.deviceIds, unknown.slice(0, 100))
})

const fields: [unknown, string][] = [
  [{ deviceIds: ['d1'] }, 'jobName'],
  [{ jobName: 'update' }, 'deviceIds'],
  [{ jobName: '', deviceIds: ['d1'] }, 'jobName'],
  [{ jobName: 'update', deviceIds: [] }, 'deviceIds'],
  [{ jobName: 'update', deviceIds: ['d1', 7] }, 'deviceIds[1]'],
  [[], 'body'],
]
for (const [body, field] of fields) {
  test(`J-500 to ${JSON.stringify(body)} names the field ${field}`, async () => {
    const { json } = await api.call('POST', '/job/api/jobs/execute', { body, headers })
    assert.equal(json.code, 'J-500')
    assert.equal(json.field, field)
  })
}

const name = '1 to 128 characters, not only spaces, without control characters'
const details: [string, string, unknown, string][] = [
  ['POST', '/job/api/jobs/execute', { deviceIds: ['d1'] }, 'jobName is required.'],
  ['POST', '/job/api/jobs/execute', { jobName: ' ', deviceIds: ['d1'] }, `jobName must be ${name}.`],
  ['POST', '/job/api/jobs/execute', { jobName: 1, deviceIds: ['d1'] }, 'jobName must be a string.'],
  ['POST', '/job/api/jobs/execute', { jobName: 'a', deviceIds: [] }, 'deviceIds must have at least 1 item.'],
  ['POST', '/job/api/jobs/execute', { jobName: 'a', deviceIds: 'd1' }, 'deviceIds must be an array.'],
  ['POST', '/job/api/jobs/execute', [], 'body must be a JSON object.'],
  [
    'PUT',
    '/job/api/devices/a',
    { nope: 1 },
    'unknown field nope; known are deviceName, tags, attributes, timeZone, window.',
  ],
  ['PUT', '/job/api/devices/a', { tags: ['x', 'x'] }, 'tags must have no duplicate items.'],
  [
    'PUT',
    '/job/api/jobs/a',
    { retry: { max: 1, jitter: 2 } },
    'unknown field retry.jitter; known are max, backoffSeconds, on.',
  ],
  ['PUT', '/job/api/jobs/a', { timeoutSeconds: 0 }, 'timeoutSeconds must be between 1 and 31536000.'],
  [
    'PUT',
    '/job/api/jobs/a',
    { retry: { max: 1, on: ['SUCCEEDED'] } },
    'retry.on[0] must be one of FAILED, TIMED_OUT.',
  ],
  ['POST', '/job/api/keys', { keyName: 'k', expiresAt: 7 }, 'expiresAt must be a string, or null.'],
  [
    'POST',
    '/job/api/keys',
    { keyName: 'k', expiresAt: 'soon' },
    'expiresAt must be an RFC 3339 instant such as 2026-11-15T09:30:00Z, or null.',
  ],
  ['POST', '/job/api/session', {}, 'body must have at least 1 field; known are apiKey, ticket.'],
  ['GET', '/job/api/jobs?limit=500', undefined, 'limit must be between 1 and 200.'],
  ['GET', '/job/api/jobs?page=2', undefined, 'unknown field page; known are limit, cursor.'],
  ['GET', '/job/api/runs?finished=maybe', undefined, 'finished must be true or false.'],
  ['GET', '/job/api/executions/0', undefined, 'jobExecutionId must be at least 1.'],
  [
    'GET',
    '/job/api/executions?execState=DONE',
    undefined,
    'execState must be one of PENDING, IN_PROGRESS, CANCELING, SUCCEEDED, FAILED, TIMED_OUT, REJECTED, EXPIRED, CANCELED.',
  ],
]
for (const [method, path, body, detail] of details) {
  test(`J-500 to ${method} ${path} ${JSON.stringify(body)} says: ${detail}`, async () => {
    const { json } = await api.call(method, path, { body, headers })
    assert.deepEqual([json.code, json.detail], ['J-500', detail])
  })
}

test('a field name of a megabyte is not repeated whole', async () => {
  const { json } = await api.call('PUT', '/job/api/devices/a', { body: { ['x'.repeat(9000)]: 1 }, headers })
  assert.ok(json.detail.length < 200, json.detail)
})

const places: [string, string, unknown, string][] = [
  ['PUT', '/job/api/jobs/a', { docment: {} }, 'docment'],
  ['PUT', '/job/api/devices/a', { tags: ['a', ''] }, 'tags[1]'],
  ['GET', '/job/api/jobs?limit=0', undefined, 'limit'],
  ['GET', '/job/api/jobs?cursor=x', undefined, 'cursor'],
  ['GET', '/job/api/executions/x', undefined, 'jobExecutionId'],
]
for (const [method, path, body, field] of places) {
  test(`J-500 to ${method} ${path} names the field ${field}`, async () => {
    const { json } = await api.call(method, path, { body, headers })
    assert.equal(json.field, field)
  })
}

test('J-500 tells where the JSON ends to make sense, and J-303 in which state the execution is', async () => {
  const broken = await api.call('POST', '/job/api/jobs/execute', { rawBody: '{"jobName"', headers })
  assert.match(broken.json.detail, /^The body is not JSON: /)
  const [{ jobExecutionId }] = (await api.trigger('update', ['d1'])).json
  const cancel = () => api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { headers })
  await cancel()
  assert.equal((await cancel()).json.detail, 'The execution is CANCELED.')
})

for (const [method, path, code] of [
  ['GET', '/job/api/nothing', 'J-901'],
  ['GET', '/nothing', 'J-901'],
  ['PUT', '/job/api/jobs/execute', 'J-902'],
] as const) {
  test(`${method} ${path} is ${code} in this form too`, async () => {
    const reply = await api.call(method, path, { headers })
    assert.equal(reply.headers.get('content-type'), 'application/problem+json; charset=utf-8')
    assert.equal(reply.json.code, code)
  })
}

test('is one of several types accepted; without it an error has three fields', async () => {
  const accept = (value: string) => api.call('GET', '/job/api/jobs/nowhere', { headers: { accept: value } })
  assert.ok((await accept('application/json, application/problem+json;q=0.9')).json.requestId)
  assert.deepEqual(Object.keys((await accept('application/json')).json), ['code', 'message', 'status'])
  assert.deepEqual(Object.keys((await accept('*/*')).json), ['code', 'message', 'status'])
})

test('successful responses are not changed', async () => {
  const reply = await api.call('GET', '/job/api/jobs/update', { headers })
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
})

const missing: [string, string, string, object?][] = [
  ['J-301', 'GET jobs/gone', 'There is no job "gone".'],
  ['J-301', 'POST runs', 'There is no job "gone".', { jobName: 'gone', targets: { where: 'all' } }],
  ['J-302', 'GET executions/987654', 'There is no execution 987654.'],
  ['J-302', 'GET executions/987654/history', 'There is no execution 987654.'],
  ['J-304', 'POST runs/987654/retry', 'There is no run 987654.'],
  ['J-304', 'POST runs/987654/pause', 'There is no run 987654.'],
  ['J-309', 'GET groups/gone', 'There is no group "gone".'],
  ['J-309', 'POST runs', 'There is no group "gone".', { jobName: 'update', targets: { group: 'gone' } }],
  ['J-310', 'DELETE schedules/gone', 'There is no schedule "gone".'],
  ['J-310', 'POST schedules/gone/fire', 'There is no schedule "gone".'],
  ['J-311', 'GET windows/gone/next', 'There is no window "gone".'],
  [
    ...(['J-311', 'POST runs', 'There is no window "gone".'] as const),
    { jobName: 'update', targets: { deviceIds: ['d1'] }, window: 'gone' },
  ],
  ['J-313', 'GET jobs/update/versions/7', 'The job "update" has no version 7.'],
  ['J-805', 'DELETE keys/gone', 'There is no key "gone".'],
]
for (const [code, call, detail, body] of missing) {
  test(`${code} to ${call} says: ${detail}`, async () => {
    const [method = '', path = ''] = call.split(' ')
    const { json } = await api.call(method, `/job/api/${path}`, { headers, ...(body && { body }) })
    assert.deepEqual([json.code, json.detail], [code, detail])
  })
}
