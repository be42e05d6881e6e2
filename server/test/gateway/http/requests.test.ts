// What device routes accept and refuse. What the operations mean is tested with the devices' own
// libraries, in test/devices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer()
await api.call('PUT', '/job/api/jobs/update', { body: { document: { a: [1, 'ü'] } } })
const device = await newDevice(api, 'd1')
/** Has one execution, `id`, that is never started. */
const idle = await newDevice(api, 'idle')
const id = await launch('idle')

async function launch(deviceId = 'd1'): Promise<number> {
  return (await api.trigger('update', [deviceId])).json[0].jobExecutionId
}
function assertException(reply: Reply, status: number, exception: string, message?: RegExp): void {
  assert.equal(reply.headers.get('x-amzn-errortype'), exception, reply.text)
  assert.equal(reply.status, status)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(reply.headers.get('x-amzn-requestid'), reply.headers.get('x-request-id'))
  if (message) assert.match(reply.json.message, message)
}

test('$next and %24next are the same, for GET and for PUT', async () => {
  const id = await launch()
  for (const next of ['/$next', '/%24next']) {
    const described = await device.call('GET', next)
    assert.equal(described.json.execution.jobId, String(id))
    assert.equal(described.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal((await device.call('PUT', next)).json.execution.jobId, String(id))
  }
  await device.update(id, 'SUCCEEDED')
})

test('a document is a text here, and left out of a description unless it is asked for', async () => {
  const id = await launch()
  assert.ok(!('jobDocument' in (await device.call('GET', `/${id}`)).json.execution))
  const asked = await device.call('GET', `/${id}?includeJobDocument=true&executionNumber=1&other=x`)
  assert.deepEqual(JSON.parse(asked.json.execution.jobDocument), { a: [1, 'ü'] })
  assert.equal((await device.startNext()).json.execution.jobDocument, asked.json.execution.jobDocument)
  await device.update(id, 'SUCCEEDED')
})

test('a body is JSON whatever its type says, and none is an empty request', async () => {
  const types: Record<string, string>[] = [
    { 'content-type': 'application/json' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    {},
  ]
  for (const headers of types) {
    const id = await launch()
    assert.equal((await device.call('PUT', '/$next', undefined, { headers })).status, 200)
    const reply = await device.call('POST', `/${id}`, '{"status":"SUCCEEDED"}', { headers })
    assert.equal(reply.status, 200, JSON.stringify(headers))
  }
})

test('numbers and booleans may be texts, unknown fields are ignored, a clientToken comes back', async () => {
  const id = await launch()
  const sent = { expectedVersion: '1', includeJobExecutionState: 'true', clientToken: 'mine', other: {} }
  const { json } = await device.update(id, 'IN_PROGRESS', sent)
  assert.equal(json.clientToken, 'mine')
  assert.deepEqual(json.executionState, { status: 'IN_PROGRESS', statusDetails: {}, versionNumber: 2 })
  await device.update(id, 'SUCCEEDED')
})

test('HEAD answers like GET, without a body', async () => {
  const reply = await device.call('HEAD', '')
  assert.deepEqual([reply.status, reply.text], [200, ''])
})

type Refusal = { title: string; body: unknown; message: RegExp }
const badBodies: Refusal[] = [
  { title: 'half a JSON text', body: '{', message: /not JSON/ },
  { title: 'no UTF-8', body: Buffer.from([0x7b, 0xff, 0x7d]), message: /not JSON/ },
  { title: 'an array', body: '[]', message: /must be a JSON object/ },
  { title: 'null', body: 'null', message: /must be a JSON object/ },
  { title: 'no status', body: {}, message: /status must be one of/ },
  { title: 'a status only we can set', body: { status: 'TIMED_OUT' }, message: /status must be one of/ },
  {
    title: 'statusDetails that are no texts',
    body: { status: 'FAILED', statusDetails: { a: 1 } },
    message: /^statusDetails\.a must be/,
  },
  {
    title: 'a version that is none',
    body: { status: 'FAILED', expectedVersion: 'x' },
    message: /expectedVersion/,
  },
  {
    title: 'a bottomless result',
    body: `{"status":"SUCCEEDED","result":${'['.repeat(60_000)}${']'.repeat(60_000)}}`,
    message: /nested deeper/,
  },
]
for (const { title, body, message } of badBodies) {
  test(`an update with ${title} is 400 InvalidRequestException and changes nothing`, async () => {
    assertException(await idle.call('POST', `/${id}`, body), 400, 'InvalidRequestException', message)
    assert.equal((await idle.call('GET', `/${id}`)).json.execution.versionNumber, 1)
  })
}

for (const query of [
  'executionNumber=x',
  'executionNumber=0',
  'includeJobDocument=yes',
  'executionNumber=1&executionNumber=2',
]) {
  test(`a description with ?${query} is 400 InvalidRequestException`, async () => {
    assertException(await idle.call('GET', `/${id}?${query}`), 400, 'InvalidRequestException')
  })
}

test('a version that differs is 409 VersionMismatchException with the state as it is', async () => {
  const reply = await idle.update(id, 'IN_PROGRESS', { expectedVersion: 9 })
  assertException(reply, 409, 'VersionMismatchException')
  assert.deepEqual(reply.json.executionState, { status: 'QUEUED', statusDetails: {}, versionNumber: 1 })
})

test('what has ended is 409 InvalidStateTransitionException with its state, or 410 TerminalStateException', async () => {
  const ended = await launch()
  await device.update(ended, 'SUCCEEDED', { statusDetails: { a: 'b' } })
  const late = await device.update(ended, 'FAILED')
  assertException(late, 409, 'InvalidStateTransitionException')
  assert.deepEqual(late.json.executionState, {
    status: 'SUCCEEDED',
    statusDetails: { a: 'b' },
    versionNumber: 2,
  })
  assertException(await device.call('GET', `/${ended}`), 410, 'TerminalStateException')
})

test('an unknown execution, and that of another device, is 404 ResourceNotFoundException', async () => {
  const other = await newDevice(api, 'd2')
  const spellings = ['999999999', 'x', '01', '$other', '-1', '9007199254740993', 'a'.repeat(500)]
  for (const spelled of spellings) {
    assertException(await device.call('GET', `/${spelled}`), 404, 'ResourceNotFoundException')
    assertException(await device.update(spelled as never, 'FAILED'), 404, 'ResourceNotFoundException')
  }
  assertException(await other.call('GET', `/${id}`), 404, 'ResourceNotFoundException')
  assertException(await other.update(id, 'FAILED'), 404, 'ResourceNotFoundException')
  assertException(await device.update('$next' as never, 'FAILED'), 404, 'ResourceNotFoundException')
})

test('a body over 128 KiB is 413, one of 128 KiB is read', async () => {
  const body = (bytes: number) => '{"status":"FAILED"}'.padEnd(bytes)
  const tooLarge = await idle.call('POST', `/${id}`, body(131_073))
  assertException(tooLarge, 413, 'RequestEntityTooLargeException')
  const large = await launch()
  assert.equal((await device.call('POST', `/${large}`, body(131_072))).status, 200)
})

test('a compressed body is 415', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const reply = await idle.call('POST', `/${id}`, '{}', { headers })
  assertException(reply, 415, 'UnsupportedMediaTypeException')
})

const headers = { authorization: `Bearer ${device.token}` }
for (const path of [
  '/things',
  '/things/',
  '/things/d1',
  '/things/d1/',
  '/things/d1/jobs/',
  '/things//jobs',
  '/things/d1/jobs/1/x',
  '/things/d1/job',
  '/things/d1/jobs/%zz',
  '/things/d1/jobs/1/output/',
]) {
  test(`${path} is 404 in the device format, with and without a token`, async () => {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { rawBody: '{' } : {}
      assertException(await api.call(method, path, { headers, ...body }), 404, 'ResourceNotFoundException')
      assertException(await api.call(method, path, body), 404, 'ResourceNotFoundException')
    }
  })
}

const methods: [string, string, string][] = [
  ['POST', '', 'GET, HEAD'],
  ['DELETE', '', 'GET, HEAD'],
  ['PATCH', '/1', 'GET, HEAD, POST, PUT'],
  ['OPTIONS', '/$next', 'GET, HEAD, POST, PUT'],
  ['PUT', '/1', 'GET, HEAD, POST'],
  ['GET', '/1/output', 'POST'],
]
for (const [method, path, allow] of methods) {
  test(`${method} ${path || '/things/d1/jobs'} is 405 and names what is allowed`, async () => {
    const reply = await device.call(method, path)
    assertException(reply, 405, 'MethodNotAllowedException')
    assert.equal(reply.headers.get('allow'), allow)
  })
}
