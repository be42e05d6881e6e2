// Metrics and health checks on a separate port, by default on loopback only: they need no key, and metrics cost more
// than other public responses.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '../../observe/metrics.ts'
import type { HealthCheck } from '../../state/health-check.ts'

/** A failing bridge is reported, but does not make the service unhealthy for a load balancer. */
type BridgeHealth = { bridgeName: string; state: string; lastError?: string | undefined }

export type MetricsListenerDeps = {
  health: HealthCheck
  /** The state of the bucket with the content of files, reported like that of bridges. */
  filesHealth?: HealthCheck | undefined
  metrics: Metrics
  stopping: AbortSignal
  bridges?: { views(): BridgeHealth[] } | undefined
}

export type MetricsListener = { readonly address: string; close(): Promise<void> }

type Answer = { status: number; type?: string; body: string }

const json = 'application/json; charset=utf-8'
const requestTimeoutMs = 5000
const maxHeaderSize = 8 * 1024
const maxConnections = 64

export async function openMetricsListener(
  deps: MetricsListenerDeps,
  { host, port }: { host: string; port: number },
): Promise<MetricsListener> {
  const options = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs, maxHeaderSize }
  const server = createServer(options, async (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const path = request.url?.split('?', 1)[0] ?? ''
    send(response, isRead ? await answer(deps, path) : { status: 405, body: 'Method not allowed\n' })
  })
  server.maxConnections = maxConnections
  server.maxRequestsPerSocket = 1
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  { health, filesHealth, metrics, stopping, bridges }: MetricsListenerDeps,
  path: string,
): Promise<Answer> {
  switch (path) {
    case '/metrics':
      return { status: 200, type: metrics.contentType, body: await metrics.text() }
    case '/livez':
      return { status: 200, type: json, body: '{"status":"ok"}' }
    case '/readyz': {
      const isReady = !stopping.aborted && (await isHealthy(health))
      const details = bridges
        ?.views()
        .map(({ bridgeName, state, lastError }) => ({ bridgeName, state, lastError }))
      const files = filesHealth && (await viewOf(filesHealth))
      const body = JSON.stringify({ status: isReady ? 'ok' : 'not ready', bridges: details, files })
      return { status: isReady ? 200 : 503, type: json, body }
    }
    default:
      return { status: 404, body: 'Not found\n' }
  }
}

function viewOf(health: HealthCheck): Promise<{ state: string; lastError?: string }> {
  return health.check().then(
    () => ({ state: 'ok' }),
    (error: Error) => ({ state: 'unavailable', lastError: error.message }),
  )
}

function isHealthy(health: HealthCheck): Promise<boolean> {
  return health.check().then(
    () => true,
    () => false,
  )
}

function send(response: ServerResponse, { status, type = 'text/plain; charset=utf-8', body }: Answer): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(body)
}
