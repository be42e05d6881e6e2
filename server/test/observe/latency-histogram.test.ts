import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { LatencyHistogram } from '../../src/observe/latency-histogram.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'

const bounds = [0.0005, 0.001, 0.01, 0.5, 10]
const name = 'request_seconds'
const help = 'How long, with a \\ and\na line'

test('its text is that of the histogram of prom-client', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const own = new LatencyHistogram({ name, help, bounds })
  ours.registerMetric(own)
  const known = new Histogram({
    ...{ name, help, buckets: bounds, registers: [theirs] },
    labelNames: ['method', 'route', 'status'],
  })
  assert.equal(await ours.metrics(), await theirs.metrics())
  // On each bound, on both sides of it, and above all of them.
  const values = [0, ...bounds.flatMap((bound) => [bound * 0.99, bound, bound * 1.01]), 0.1, 0.2, 1e9]
  const calls = [
    ['GET', '/job/api/runs/:runId', 200],
    ['POST', '/job/api/runs/:runId', 200],
    ['GET', '/job/api/runs/:runId', 404],
    ['GET', '/"quoted"\\', 200],
    ['GET', '', 0],
  ] as const
  for (const [index, seconds] of values.entries()) {
    for (const [method, route, status] of calls.slice(0, 1 + (index % calls.length))) {
      own.add(method, route, status, seconds)
      known.observe({ method, route, status }, seconds)
    }
  }
  const text = await ours.metrics()
  assert.equal(text, await theirs.metrics())
  assert.match(text, /request_seconds_bucket\{le="\+Inf",method="GET",route="\/job/)
})

test('a request that was answered is counted by its method, route and status', async () => {
  const metrics = buildMetrics()
  const unknown = { keyId: undefined, ownerId: undefined, runId: undefined, triedKeyId: undefined }
  const answered: ServiceEvent = {
    ...{ requestId: 'r', method: 'GET', route: '/livez', status: 200, ms: 2, code: undefined },
    ...{ kind: 'request-answered', ...unknown, address: '127.0.0.1', userAgent: undefined },
  }
  metrics.tell(answered)
  metrics.tell(answered)
  const line =
    'jobcast_http_request_duration_seconds_bucket{le="0.0025",method="GET",route="/livez",status="200"} 2'
  assert.ok((await metrics.text()).split('\n').includes(line))
})
