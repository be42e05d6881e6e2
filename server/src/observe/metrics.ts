// Counts events for Prometheus. Names follow its conventions: base units, _total for counters.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Tell } from './events.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { buildProductMetrics } from './product-metrics.ts'

export type Metrics = {
  tell: Tell
  /** A value read at each scrape. */
  gauge: (name: string, help: string, read: () => number) => void
  /** One gauge for each value of a label; `read` may return a promise. */
  gauges: (name: string, help: string, labels: string[], read: ReadGauges) => void
  text: () => Promise<string>
  contentType: string
}

type ReadGauges = () => LabeledValue[] | Promise<LabeledValue[]>
export type LabeledValue = { labels: Record<string, string>; value: number }

/** Cached, because the text takes milliseconds to build with many routes, and needs no key. */
const textCachedMs = 1000

const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** `ofProcess`: also memory, CPU time and garbage collection, whose observers last as long as the process. */
export function buildMetrics({ ofProcess = true } = {}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (ofProcess) collectDefaultMetrics({ register: registry })
  // Removes gauges with names of counters, which promtool refuses. Each is the sum of a remaining one by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  const requests = new LatencyHistogram({
    name: 'jobcast_http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the response',
    bounds: latencyBuckets,
  })
  registry.registerMetric(requests)
  const failures = new Counter({
    name: 'jobcast_http_failures_total',
    help: 'Requests answered with 500 (internal errors)',
    registers,
  })
  const commits = new Histogram({
    name: 'jobcast_commit_duration_seconds',
    help: 'Duration of group commits, including disk sync',
    labelNames: ['of'],
    buckets: latencyBuckets,
    registers,
  })
  const members = new Counter({
    name: 'jobcast_committed_items_total',
    help: 'Items written by group commits: trigger calls, devices, or device reports',
    labelNames: ['of'],
    registers,
  })
  const failedCommits = new Counter({
    name: 'jobcast_commit_failures_total',
    help: 'Group commits that failed as a whole',
    labelNames: ['of'],
    registers,
  })
  const executions = new Counter({
    name: 'jobcast_executions_created_total',
    help: 'Executions created by trigger calls',
    registers,
  })
  const refusedConnections = new Counter({
    name: 'jobcast_connections_refused_total',
    help: 'Connections closed because the input was not a valid request: malformed, too large, or too slow',
    labelNames: ['code'],
    registers,
  })
  const rateLimited = new Counter({
    name: 'jobcast_rate_limited_total',
    help: 'Requests and packets refused because a rate limit was exceeded',
    labelNames: ['limit'],
    registers,
  })
  const refusedExchanges = new Counter({
    name: 'jobcast_exchanges_refused_total',
    help: 'Tokens of issuers that were not exchanged for access; the log has the reason',
    registers,
  })
  const refusedBodies = new Counter({
    name: 'jobcast_bodies_refused_total',
    help: 'Requests rejected because too many bytes of request bodies were being received',
    labelNames: ['quota'],
    registers,
  })
  const deviceConnections = new Counter({
    name: 'jobcast_device_connections_total',
    help: 'Signed-in device connections over MQTT or WebSocket',
    labelNames: ['transport'],
    registers,
  })
  const refusedDevices = new Counter({
    name: 'jobcast_device_connections_refused_total',
    help: 'Device connections closed before a device had signed in',
    labelNames: ['reason'],
    registers,
  })
  const deviceFailures = new Counter({
    name: 'jobcast_device_failures_total',
    help: 'Device requests and connections that failed with an internal error',
    registers,
  })
  const webhookAttempts = new Counter({
    name: 'jobcast_webhook_attempts_total',
    help: 'Webhook requests: accepted, refused by the response, or failed without a response',
    labelNames: ['outcome'],
    registers,
  })
  const spansSent = new Counter({
    name: 'jobcast_spans_sent_total',
    help: 'Spans that the OpenTelemetry collector has accepted',
    registers,
  })
  const spansDropped = new Counter({
    name: 'jobcast_spans_dropped_total',
    help: 'Spans that were not sent: too many waiting, retries exhausted, refused by the collector, or stopped',
    labelNames: ['reason'],
    registers,
  })
  const unavailable = new Counter({
    name: 'jobcast_storage_unavailable_total',
    help: 'Seconds in which the storage was not available: disk full or failing',
    registers,
  })

  const product = buildProductMetrics(registers)
  const tell: Tell = (event) => {
    switch (event.kind) {
      case 'request-answered':
        if (event.code !== undefined || event.status === 201) product(event)
        requests.add(event.method, event.route, event.status, event.ms / 1000)
        return
      case 'request-failed':
        failures.inc()
        return
      case 'group-committed':
        commits.observe({ of: event.of }, event.ms / 1000)
        members.inc({ of: event.of }, event.items)
        return
      case 'group-failed':
        failedCommits.inc({ of: event.of })
        return
      case 'executions-created':
        executions.inc(event.count)
        return
      case 'exchange-refused':
        refusedExchanges.inc()
        return
      case 'rate-limited':
        rateLimited.inc({ limit: event.limit })
        return
      case 'body-refused':
        refusedBodies.inc({ quota: event.quota })
        return
      case 'connection-refused':
        refusedConnections.inc({ code: event.code })
        return
      case 'device-connected':
        deviceConnections.inc({ transport: event.transport })
        return
      case 'device-refused':
        refusedDevices.inc({ reason: event.reason })
        return
      case 'device-request-failed':
      case 'device-connection-failed':
        deviceFailures.inc()
        return
      case 'webhook-attempted':
        webhookAttempts.inc({ outcome: outcomeOf(event) })
        product(event)
        return
      case 'spans-sent':
        spansSent.inc(event.count)
        return
      case 'spans-dropped':
        spansDropped.inc({ reason: event.reason }, event.count)
        return
      case 'storage-unavailable':
        unavailable.inc()
        return
      case 'execution-started':
      case 'execution-ended':
        product(event)
    }
  }

  return {
    tell,
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    gauges(name, help, labelNames, read) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const values = await read()
          this.reset()
          for (const { labels, value } of values) this.set(labels, value)
        },
      })
    },
    text: cachedFor(textCachedMs, () => registry.metrics()),
    contentType: registry.contentType,
  }
}

/** Computes the value once per interval, however many requests there are. */
function cachedFor<T>(ms: number, make: () => Promise<T>): () => Promise<T> {
  let latest: { value: Promise<T>; at: number } | undefined
  return () => {
    const now = performance.now()
    if (latest === undefined || now - latest.at >= ms) latest = { value: make(), at: now }
    return latest.value
  }
}

function outcomeOf({ status, error }: { status: number | null; error: string | null }): string {
  if (error === null) return 'accepted'
  return status === null ? 'failed' : 'refused'
}
