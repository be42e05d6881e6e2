// When the service itself fails: foreseen states are 503 with Retry-After, a bug is a bare 500.

import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { ErrorCode } from '@jobcast/contract'
import { StorageUnavailable, TooMuchWaiting } from '../../src/domain/common/ports/storage-errors.ts'
import { errorText } from './assert-reply.ts'
import { openApp } from './open-app.ts'

const secret = 'SQLITE_FULL at /var/lib/secret'
const body = { jobName: 'update', deviceIds: ['d1'] }

type Failure = { title: string; error: Error; code: ErrorCode; retryAfter: string | undefined }
const failures: Failure[] = [
  { title: 'too much is waiting', error: new TooMuchWaiting(), code: 'J-908', retryAfter: '1' },
  {
    title: 'the disk is full',
    error: new StorageUnavailable(new Error(secret)),
    code: 'J-909',
    retryAfter: '5',
  },
  { title: 'there is a bug', error: new TypeError(secret), code: 'J-900', retryAfter: undefined },
]

for (const { title, error, code, retryAfter } of failures) {
  test(`the trigger answers ${code} when ${title}, without a word about why`, async (t) => {
    const recordTrigger = () => Promise.reject(error)
    const { app, adminKey, told } = await openApp(t, { recordTrigger, recordDevice: recordTrigger })
    const headers = { host: 'localhost', 'x-api-key': adminKey }
    for (const accept of ['application/json', 'application/problem+json']) {
      const reply = await app.inject({
        method: 'POST',
        url: '/job/api/jobs/execute',
        headers: { ...headers, accept },
        body,
      })
      assert.equal(reply.json().code, code)
      assert.equal(reply.statusCode, reply.json().status)
      assert.equal(reply.headers['retry-after'], retryAfter)
      assert.ok(reply.headers['x-request-id'])
      assert.ok(!reply.body.includes('secret'))
      if (accept === 'application/json') assert.equal(reply.body, errorText(code))
    }
    const put = await app.inject({ method: 'PUT', url: '/job/api/devices/d1', headers, body: {} })
    assert.equal(put.body, errorText(code))
    const failed = told.filter((event) => event.kind === 'request-failed')
    assert.equal(failed.length, code === 'J-900' ? 3 : 0)
  })
}

for (const step of ['getRun', 'listRollouts'] as const) {
  test(`a run that was created and cannot be read (${step}) is not reported as not created`, async (t) => {
    const { app, adminKey, deps } = await openApp(t)
    const headers = { host: 'localhost', 'x-api-key': adminKey }
    await app.inject({ method: 'PUT', url: '/job/api/jobs/update', headers, body: {} })
    await app.inject({ method: 'PUT', url: '/job/api/devices/d1', headers, body: {} })
    const whole = deps.store[step]
    Object.assign(deps.store, { [step]: () => Promise.reject(new StorageUnavailable(new Error(secret))) })
    const url = '/job/api/runs'
    const run = { jobName: 'update', targets: { deviceIds: ['d1'] } }
    const reply = await app.inject({ method: 'POST', url, headers, body: run })
    assert.equal(reply.json().code, 'J-909')
    assert.match(reply.body, /the request may have taken effect/)
    Object.assign(deps.store, { [step]: whole })
    assert.equal((await app.inject({ url, headers })).json().items.length, 1)
  })
}

test('an internal error is logged once with its error and the request id of the response', async (t) => {
  const bug = new TypeError(secret)
  const { app, adminKey, told } = await openApp(t, { recordTrigger: () => Promise.reject(bug) })
  const headers = { host: 'localhost', 'x-api-key': adminKey }
  const reply = await app.inject({ method: 'POST', url: '/job/api/jobs/execute', headers, body })
  const failed = told.filter((event) => event.kind === 'request-failed')
  assert.equal(failed.length, 1)
  assert.equal(failed[0]?.error, bug)
  assert.equal(failed[0]?.requestId, reply.headers['x-request-id'])
})

test('/readyz answers J-910 with Retry-After once the service is stopping, /livez remains 200', async (t) => {
  const { app } = await openApp(t, { stopping: AbortSignal.abort() })
  const headers = { host: 'localhost' }
  const ready = await app.inject({ url: '/readyz', headers })
  assert.equal(ready.body, errorText('J-910'))
  assert.equal(ready.statusCode, 503)
  assert.equal(ready.headers['retry-after'], '5')
  assert.equal(ready.headers.connection, 'close')
  assert.equal((await app.inject({ url: '/livez', headers })).statusCode, 200)
})

test('output that cannot be read to its end cuts the connection, and the error is logged', async (t) => {
  const bug = new TypeError(secret)
  const { app, adminKey, told, deps } = await openApp(t)
  const { getExecution, readOutput } = deps.store
  const execution = { attempt: 1 } as Awaited<ReturnType<typeof getExecution>>
  const first = { data: Buffer.from('first'), length: 9, cut: false, runId: 1, ended: false }
  Object.assign(deps.store, {
    getExecution: async () => execution,
    readOutput: async ({ offset }: Parameters<typeof readOutput>[0]) => {
      if (offset > 0) throw bug
      return first
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const headers = { 'x-api-key': adminKey }
  const response = await fetch(`http://127.0.0.1:${port}/job/api/executions/1/output`, { headers })
  await assert.rejects(response.text())
  const failed = told.filter((event) => event.kind === 'request-failed')
  assert.deepEqual(
    failed.map(({ error, route }) => [error, route]),
    [[bug, '/job/api/executions/:jobExecutionId/output']],
  )
})

test('devices and their executions can be read while presence cannot be written', async (t) => {
  const unwritable = new StorageUnavailable(new Error('full'))
  const presence = { settle: () => Promise.reject(unwritable), lastSeenAt: () => undefined }
  const { app, adminKey } = await openApp(t, { presence: { ...presence, seenByHttp: () => undefined } })
  const headers = { host: 'localhost', 'x-api-key': adminKey }
  await app.inject({ method: 'PUT', url: '/job/api/devices/d1', headers })
  for (const url of ['/job/api/devices/d1', '/job/api/devices?online=false']) {
    assert.equal((await app.inject({ url, headers })).statusCode, 200)
  }
})
