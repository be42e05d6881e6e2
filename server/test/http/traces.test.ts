// A trace from the trigger to the report of the device, as sent to a collector, and the trace headers of callers.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { readOtlp } from '../../src/config/otlp-settings.ts'
import { readOrigins } from '../../src/config/read-origins.ts'

type Span = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  status: { code: number; message?: string }
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]
}
const spans: Span[] = []
/** A collector: takes OTLP over HTTP, as JSON. */
const collector = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  assert.equal(request.url, '/v1/traces')
  assert.equal(request.headers['x-team'], 'ops one')
  const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
  for (const { scopeSpans } of resourceSpans) for (const { spans: some } of scopeSpans) spans.push(...some)
  response.end('{}')
})
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
after(() => collector.close())
const { port } = collector.address() as { port: number }

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${callerSpan}-01`
const attributeOf = ({ attributes }: Span, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}

test('the collector gets the trigger and each execution, the device the trace, and others nothing', async (t) => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Team=ops%20one',
  }
  const problems: string[] = []
  const api = await openServer(t, { otlp: readOtlp(env, problems) })
  assert.deepEqual(problems, [])
  await api.putJobAndDevices('restart', [])
  const device = await newDevice(api, 'a')
  await api.trigger('restart', ['a'], { headers: { traceparent: 'not one' } })
  const untraced = await device.startNext()
  assert.equal(untraced.headers.get('traceparent'), null)
  assert.equal(untraced.json.execution.traceparent, undefined)
  await device.update(untraced.json.execution.jobId, 'SUCCEEDED')
  await api.trigger('restart', ['a'], { headers: { traceparent } })
  const { headers, json } = await device.startNext()
  const handed = json.execution.traceparent
  assert.match(handed, new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
  assert.equal(headers.get('traceparent'), handed)
  await device.update(json.execution.jobId, 'FAILED', { statusDetails: { reason: 'disk full' } })
  await waitUntil('both spans have arrived', () => spans.length >= 2)
  const [trigger, execution] = spans as [Span, Span]
  assert.equal(spans.length, 2)
  assert.deepEqual([trigger.name, trigger.traceId, trigger.parentSpanId], ['trigger', traceId, callerSpan])
  assert.equal(handed, `00-${traceId}-${trigger.spanId}-01`)
  assert.deepEqual(
    [execution.name, execution.traceId, execution.parentSpanId],
    ['execution', traceId, trigger.spanId],
  )
  assert.deepEqual(execution.status, { code: 2, message: 'disk full' })
  assert.equal(attributeOf(execution, 'jobcast.device_id'), 'a')
  assert.equal(attributeOf(execution, 'jobcast.exec_state'), 'FAILED')
  assert.equal(attributeOf(trigger, 'jobcast.job_name'), 'restart')
})

test('without a collector the run keeps the span of its caller, also over a retry of the call', async (t) => {
  const api = await openServer(t)
  await api.putJobAndDevices('restart', [])
  const device = await newDevice(api, 'a')
  const options = { headers: { traceparent, 'idempotency-key': 'once' } }
  await api.trigger('restart', ['a'], options)
  await api.trigger('restart', ['a'], options)
  const described = await device.call('GET', '/$next')
  const prefix = '$aws/things/a/jobs/'
  const client = await connectAsync(`${api.http.replace('http', 'ws')}/mqtt`, {
    ...{ protocolVersion: 5, username: 'a', password: device.token, reconnectPeriod: 0 },
  })
  t.after(() => client.end(true))
  // Of an answer and of the notice alike.
  const traceOf = (topic: string) =>
    new Promise<unknown>((resolve) =>
      client.on('message', (name, _, { properties }) => {
        if (name === prefix + topic) resolve(properties?.userProperties?.traceparent)
      }),
    )
  const [noticed, started] = [traceOf('notify-next'), traceOf('start-next/accepted')]
  await client.subscribeAsync(`${prefix}#`, { qos: 1 })
  assert.equal(await noticed, traceparent)
  await client.publishAsync(`${prefix}start-next`, '{}', { qos: 1 })
  assert.equal(await started, traceparent)
  assert.equal(described.headers.get('traceparent'), traceparent)
  assert.equal((await device.startNext()).json.execution.traceparent, traceparent)
})

test("a caller's X-Request-Id is kept when it is well formed", async (t) => {
  const api = await openServer(t)
  const answered = async (given: string) =>
    (await api.call('GET', '/job/api/jobs', { headers: { 'x-request-id': given } })).headers.get(
      'x-request-id',
    )
  assert.equal(await answered('ci-4711:1.2'), 'ci-4711:1.2')
  for (const given of ['', 'a b', 'a"b', 'x'.repeat(129)]) assert.notEqual(await answered(given), given)
})

test('pages of allowed origins may call the API with a key, and no others', async (t) => {
  const origin = 'https://ops.example.com'
  const api = await openServer(t, { corsOrigins: readOrigins(`${origin}, https://other.example.com`, []) })
  const ask = (from: string, method: string) =>
    api.call(method, '/job/api/jobs', {
      headers: { origin: from, ...(method === 'OPTIONS' && { 'access-control-request-method': 'GET' }) },
    })
  const preflight = await ask(origin, 'OPTIONS')
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /x-api-key/)
  const call = await ask(origin, 'GET')
  assert.equal(call.status, 200)
  assert.equal(call.headers.get('access-control-allow-origin'), origin)
  assert.equal(call.headers.get('access-control-allow-credentials'), null)
  assert.match(call.headers.get('vary') ?? '', /origin/)
  const stranger = await ask('https://evil.example', 'GET')
  assert.equal(stranger.headers.get('access-control-allow-origin'), null)
  assert.equal((await ask('https://evil.example', 'OPTIONS')).status, 405)
})
