// Spans while the collector fails: sent again, and what is dropped is counted.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { OtlpExporter } from '../../src/observe/otlp-exporter.ts'

type Answer = { status: number; body?: string; headers?: Record<string, string> } | 'cut'

/** `answers` are given one after the other, the last one from then on. */
async function openExporter(t: TestContext, ...answers: Answer[]) {
  const arrived: string[] = []
  let requests = 0
  const collector = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answer = answers[Math.min(requests++, answers.length - 1)] as Answer
    if (answer === 'cut') return void response.destroy()
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
    if (answer.status === 200) {
      for (const { name } of resourceSpans[0].scopeSpans[0].spans) arrived.push(name)
    }
    response.writeHead(answer.status, answer.headers).end(answer.body ?? '{}')
  })
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  t.after(() => collector.close())
  const { port } = collector.address() as { port: number }
  const events: ServiceEvent[] = []
  const metrics = buildMetrics()
  const exporter = new OtlpExporter({
    ...{ endpoint: `http://127.0.0.1:${port}`, headers: {}, serviceName: 'jobcast', version: '1' },
    times: { batchMs: 1, retryMs: 1, longestRetryMs: 4 },
    tell: (event) => {
      metrics.tell(event)
      events.push(event)
    },
  })
  t.after(() => exporter.stop())
  const add = (name: string) =>
    exporter.add({
      ...{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', parentSpanId: '' },
      ...{ name, kind: 'server', startedAt: 1, endedAt: 2, attributes: {} },
    })
  return {
    exporter,
    arrived,
    add,
    requests: () => requests,
    of: <K extends ServiceEvent['kind']>(kind: K) =>
      events.filter((event): event is Extract<ServiceEvent, { kind: K }> => event.kind === kind),
    metrics: () => metrics.text(),
  }
}

const five = ['a', 'b', 'c', 'd', 'e']

test('spans arrive once, in order, after a collector that fails has recovered', async (t) => {
  const ok = { status: 200 }
  const bench = await openExporter(t, 'cut', { status: 503 }, { status: 429 }, { status: 500 }, ok)
  for (const name of five) bench.add(name)
  await waitUntil('all spans have arrived', () => bench.arrived.length >= 5)
  assert.deepEqual(bench.arrived, five)
  await bench.exporter.stop()
  assert.equal(bench.requests(), 5)
  // The log says once that it is retried, and that is what happens.
  assert.deepEqual(
    bench.of('span-export-failed').map(({ waiting }) => waiting),
    [5],
  )
  assert.deepEqual(bench.of('spans-dropped'), [])
  assert.match(await bench.metrics(), /^jobcast_spans_sent_total 5$/m)
})

test('a batch that ten tries have not delivered is dropped and counted, and the next is sent', async (t) => {
  const bench = await openExporter(t, ...Array<Answer>(10).fill({ status: 503 }), { status: 200 })
  for (const name of five) bench.add(name)
  await waitUntil('they are dropped', () => bench.of('spans-dropped').length > 0)
  assert.equal(bench.requests(), 10)
  bench.add('later')
  await waitUntil('the next has arrived', () => bench.arrived.length > 0)
  assert.deepEqual(bench.arrived, ['later'])
  assert.match(await bench.metrics(), /^jobcast_spans_dropped_total\{reason="retries-exhausted"\} 5$/m)
})

test('what the collector refuses is not sent again, also if it refuses only some', async (t) => {
  const partial = { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2"}}' }
  const bench = await openExporter(t, { status: 400 }, partial)
  for (const name of five) bench.add(name)
  await waitUntil('they are dropped', () => bench.of('spans-dropped').length > 0)
  for (const name of five) bench.add(name)
  await waitUntil('two are dropped', () => bench.of('spans-dropped').length > 1)
  const dropped = bench.of('spans-dropped').map(({ count, reason }) => [count, reason])
  assert.deepEqual(dropped, [
    [5, 'refused'],
    [2, 'refused'],
  ])
  assert.equal(bench.requests(), 2)
  assert.deepEqual(bench.of('span-export-failed'), [])
  assert.match(await bench.metrics(), /^jobcast_spans_sent_total 3$/m)
})

test('a stop sends all that waits, and counts what it cannot send', async (t) => {
  const good = await openExporter(t, { status: 200 })
  for (let index = 0; index < 1200; index++) good.add(String(index))
  await good.exporter.stop()
  assert.equal(good.arrived.length, 1200)

  const bad = await openExporter(t, { status: 503 })
  for (let index = 0; index < 5003; index++) bad.add(String(index))
  await bad.exporter.stop()
  await bad.exporter.stop()
  const counts = Object.groupBy(bad.of('spans-dropped'), ({ reason }) => reason)
  const sum = (reason: keyof typeof counts) => counts[reason]?.reduce((all, { count }) => all + count, 0)
  assert.deepEqual([sum('queue-full'), sum('stopped')], [3, 5000])
  assert.deepEqual(bad.of('span-export-failed'), [])
})
