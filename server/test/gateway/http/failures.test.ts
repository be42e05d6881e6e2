// When the service itself fails: what an AWS client retries, and a bug that says nothing about itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailable, TooMuchWaiting } from '../../../src/domain/common/ports/storage-errors.ts'
import { type AllDeps, openApp } from '../../http/open-app.ts'

const secret = 'SQLITE_FULL at /var/lib/secret'

type Failure = { title: string; error: Error; status: number; exception: string; retryAfter?: string }
const failures: Failure[] = [
  {
    title: 'too much is waiting',
    error: new TooMuchWaiting(),
    status: 429,
    exception: 'ThrottlingException',
    retryAfter: '1',
  },
  {
    title: 'the disk is full',
    error: new StorageUnavailable(new Error(secret)),
    status: 503,
    exception: 'ServiceUnavailableException',
    retryAfter: '5',
  },
  { title: 'there is a bug', error: new TypeError(secret), status: 500, exception: 'InternalFailure' },
]

async function openWith(t: Parameters<typeof openApp>[0], parts: Partial<AllDeps>) {
  const open = await openApp(t, parts)
  const headers = { host: 'localhost', 'x-api-key': open.adminKey }
  await open.app.inject({ method: 'PUT', url: '/job/api/devices/d1', headers })
  const made = await open.app.inject({ method: 'POST', url: '/job/api/devices/d1/credential', headers })
  const send = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) =>
    open.app.inject({
      method,
      url: `/things/d1/jobs${path}`,
      headers: { host: 'localhost', authorization: `Bearer ${made.json().deviceToken}` },
      ...(body && { body }),
    })
  return { ...open, send }
}

for (const { title, error, status, exception, retryAfter } of failures) {
  test(`answers ${status} ${exception} when ${title}, without a word about why`, async (t) => {
    const { send, told } = await openWith(t, { recordReport: () => Promise.reject(error) })
    const replies = [
      await send('PUT', '/$next'),
      await send('POST', '/1', { status: 'SUCCEEDED' }),
      await send('POST', '/1/output', { offset: 0, data: 'x' }),
    ]
    for (const reply of replies) {
      assert.equal(reply.statusCode, status)
      assert.equal(reply.headers['x-amzn-errortype'], exception)
      assert.equal(reply.headers['retry-after'], retryAfter)
      assert.ok(reply.headers['x-request-id'])
      assert.ok(!reply.body.includes('secret'))
      assert.deepEqual(Object.keys(reply.json()), ['message'])
    }
    const failed = told.filter((event) => event.kind === 'request-failed')
    assert.equal(failed.length, status === 500 ? 3 : 0)
    if (status === 500) assert.equal(failed[0]?.error, error)
    const unavailable = told.filter((event) => event.kind === 'storage-unavailable')
    assert.equal(unavailable.length, status === 503 ? 1 : 0)
  })
}

test('the log names what was refused by its exception, and the route by its pattern', async (t) => {
  const { send, told } = await openWith(t, {})
  await send('GET', '/999')
  const last = told.findLast((event) => event.kind === 'request-answered')
  assert.deepEqual([last?.route, last?.code], ['/things/:thing/jobs/:jobId', 'ResourceNotFoundException'])
  await send('GET', '')
  assert.equal(told.findLast((event) => event.kind === 'request-answered')?.code, undefined)
})

test('a request without Host is refused in the device format and ends the connection', async (t) => {
  const { app } = await openWith(t, {})
  const { port } = await listen(app)
  const { sendRaw } = await import('@jobcast/testkit/raw-http')
  const reply = await sendRaw(`http://127.0.0.1:${port}`, 'GET /things/d1/jobs HTTP/1.1\r\n\r\n')
  assert.equal(reply.status, 400)
  assert.match(reply.head, /x-amzn-errortype: InvalidRequestException/i)
  assert.ok(reply.closed)
})

async function listen(app: Awaited<ReturnType<typeof openApp>>['app']): Promise<{ port: number }> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app.server.address() as { port: number }
}
