// Which requests are repeated, and that nothing is created twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ConnectionError,
  InvalidName,
  isJobcastError,
  Jobcast,
  JobcastError,
  UnexpectedAnswer,
} from '@jobcast/client'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { clientOf, collect, openClient } from './support/open-client.ts'
import { openScriptedServer, type PreparedAnswer } from './support/scripted-server.ts'

const problem = (status: number, code: string, headers = {}): PreparedAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: { type: 'about:blank', title: 'no', status, code, requestId: 'r' },
})
const ok: PreparedAnswer = { status: 200, body: { status: 'ok' } }

test('a trigger whose response is cut creates exactly one run, however much of the response arrived', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a', 'b'])
  const proxy = await openCuttingProxy(t, server.http)
  // Before the answer, in its headers, in its body.
  proxy.cutNext(0, 40, 400)
  const { runId, executions } = await clientOf(server, { url: proxy.url }).trigger({
    jobName: 'restart',
    deviceIds: ['a', 'b'],
  })
  assert.equal(proxy.connections, 4)
  assert.deepEqual(
    executions.map(({ deviceId }) => deviceId),
    ['a', 'b'],
  )
  assert.deepEqual(
    (await collect(jobcast.runs.list())).map((run) => run.runId),
    [runId],
  )
})

test('two triggers are two runs, unless they have the same Idempotency-Key', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const request = { jobName: 'restart', deviceIds: ['a'] }
  const options = { idempotencyKey: 'deploy-4711' }
  const first = await jobcast.trigger(request, options)
  assert.deepEqual(await jobcast.trigger(request, options), first)
  assert.notEqual((await jobcast.trigger(request)).runId, (await jobcast.trigger(request)).runId)
})

test('a key is created once if its response is cut: the call fails and is not repeated', async (t) => {
  const { server, jobcast } = await openClient(t)
  const proxy = await openCuttingProxy(t, server.http)
  proxy.cutNext(0)
  const call = clientOf(server, { url: proxy.url }).keys.create({ keyName: 'once' })
  await assert.rejects(call, ConnectionError)
  assert.equal(proxy.connections, 1)
  const keys = await collect(jobcast.keys.list())
  assert.equal(keys.filter(({ keyName }) => keyName === 'once').length, 1)
})

test('a deletion is successful if its repetition finds nothing', async (t) => {
  const { server, jobcast } = await openClient(t)
  await jobcast.jobs.put('restart')
  const proxy = await openCuttingProxy(t, server.http)
  proxy.cutNext(0)
  await clientOf(server, { url: proxy.url }).jobs.delete('restart')
  assert.equal(proxy.connections, 2)
  await assert.rejects(jobcast.jobs.delete('restart'), (error) => isJobcastError(error, 'J-301'))
})

test('cancel returns the canceled execution if its repetition finds it ended', async (t) => {
  const { server } = await openClient(t)
  await server.putJobAndDevices('restart', ['a', 'b'])
  const proxy = await openCuttingProxy(t, server.http)
  const jobcast = clientOf(server, { url: proxy.url, headers: { connection: 'close' } })
  const [execution] = (await clientOf(server).trigger({ jobName: 'restart', deviceIds: ['a'] })).executions
  proxy.cutNext(0)
  const canceled = await jobcast.executions.cancel(execution?.jobExecutionId ?? 0)
  assert.equal(canceled.execState, 'CANCELED')
})

test('temporary responses are retried: 502 of a proxy, 503 of the service, 409 of a concurrent call', async (t) => {
  const proxyPage = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }
  const { url, requests } = await openScriptedServer(
    t,
    proxyPage,
    problem(503, 'J-909', { 'retry-after': '0' }),
    problem(409, 'J-502'),
    { status: 201, headers: { location: '/job/api/runs/7' }, body: [] },
  )
  const { runId } = await new Jobcast({ url, apiKey: 'k' }).trigger({ jobName: 'j', deviceIds: ['d'] })
  assert.equal(runId, 7)
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  assert.equal(keys.length, 4)
  assert.equal(new Set(keys).size, 1)
})

test('maxRetries limits the retries, and the last error is thrown', async (t) => {
  const { url, requests } = await openScriptedServer(t, problem(503, 'J-909'))
  const call = new Jobcast({ url, apiKey: 'k', maxRetries: 1 }).health.ready()
  await assert.rejects(call, (error) => isJobcastError(error, 'J-909'))
  assert.equal(requests.length, 2)
})

const unsafe: [PreparedAnswer, number, string][] = [
  [problem(503, 'J-909'), 1, 'may have been written'],
  [problem(503, 'J-908'), 2, 'was turned away at the door'],
  [problem(503, 'J-910'), 2, 'was turned away by a service that stops'],
  [problem(429, 'J-908'), 2, 'was one too many'],
  [{ status: 502 }, 1, 'got lost behind a proxy'],
]
for (const [answer, times, why] of unsafe) {
  test(`a call that creates a key is sent ${times} times when it ${why}`, async (t) => {
    const { url, requests } = await openScriptedServer(t, answer, { status: 201, body: {} })
    await new Jobcast({ url, apiKey: 'k' }).keys.create({ keyName: 'k' }).catch(() => {})
    assert.equal(requests.length, times)
  })
}

test('a refused call is not repeated, and its error has code, field and request', async (t) => {
  const { server, jobcast } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const unknown = await jobcast
    .trigger({ jobName: 'restart', deviceIds: ['a', 'x', 'y'] })
    .catch((error: unknown) => error)
  assert.ok(isJobcastError(unknown, 'J-301', 'J-001'))
  assert.equal(unknown.status, 404)
  assert.deepEqual(unknown.deviceIds, ['x', 'y'])
  assert.ok(unknown.requestId)
  const invalid = await jobcast.jobs.put('j', { timeoutSeconds: 0 }).catch((error: unknown) => error)
  assert.ok(invalid instanceof JobcastError && invalid.code === 'J-500')
  assert.equal(invalid.field, 'timeoutSeconds')
  assert.match(invalid.detail ?? '', /timeoutSeconds/)
})

test('a redirect is not followed, so that the key is not sent elsewhere', async (t) => {
  const elsewhere = await openScriptedServer(t, ok)
  const { url } = await openScriptedServer(t, { status: 307, headers: { location: elsewhere.url } })
  await assert.rejects(new Jobcast({ url, apiKey: 'k' }).health.live(), UnexpectedAnswer)
  assert.equal(elsewhere.requests.length, 0)
})

test('a page that is not JSON is not accepted as a response', async (t) => {
  const { url } = await openScriptedServer(t, { status: 200, body: '<h1>Welcome</h1>' })
  await assert.rejects(new Jobcast({ url, apiKey: 'k' }).health.live(), UnexpectedAnswer)
})

test('a path before /job/api is kept, and names are encoded', async (t) => {
  const { url, requests } = await openScriptedServer(t, ok)
  await new Jobcast({ url: `${url}/tools/jobcast/`, apiKey: 'k' }).jobs.get('a/b ?ä')
  assert.equal(requests[0]?.url, '/tools/jobcast/job/api/jobs/a%2Fb%20%3F%C3%A4')
  assert.throws(() => new Jobcast({ url, apiKey: 'k' }).jobs.get('..'), InvalidName)
})

test('the signal ends a call in progress, and one that waits for a retry', async (t) => {
  const reason = new Error('enough')
  const patient = { maxRetries: 1000 }
  const { url, requests } = await openScriptedServer(t, problem(503, 'J-909', { 'retry-after': '3600' }))
  const controller = new AbortController()
  const seen = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init)
    setImmediate(() => controller.abort(reason))
    return response
  }
  const waiting = new Jobcast({ url, apiKey: 'k', fetch: seen, ...patient })
  await assert.rejects(waiting.health.live({ signal: controller.signal }), reason)
  assert.equal(requests.length, 1)
  await assert.rejects(waiting.health.live({ signal: AbortSignal.abort(reason) }), reason)
})

test('a service that does not respond in time is a ConnectionError', async (t) => {
  const { server } = await openClient(t)
  await server.putJobAndDevices('restart', ['a'])
  const { runId } = await clientOf(server).trigger({ jobName: 'restart', deviceIds: ['a'] })
  // The service holds this response for a minute, without informing the client.
  const impatient = clientOf(server, {
    timeoutMs: 50,
    maxRetries: 0,
    fetch: (input, init) => fetch(`${String(input)}?wait=60`, init),
  })
  await assert.rejects(impatient.runs.get(runId), ConnectionError)
})
