// Liveness, readiness, the OpenAPI document and, if configured, metrics. No key needed.

import { ApiError } from '@jobcast/contract'
import Type from 'typebox'
import type { Metrics } from '../../observe/metrics.ts'
import type { HealthCheck } from '../../state/health-check.ts'
import type { App } from '../app-type.ts'

type ServiceDeps = { health: HealthCheck; metrics: Metrics; stopping: AbortSignal }

const Health = Type.Object({ status: Type.Literal('ok') })

/** Incremented only by breaking changes; docs/api.md has the policy. */
const apiVersion = 1
const Version = Type.Object(
  {
    version: Type.String({ description: 'Version of the program', examples: ['0.1.0'] }),
    api: Type.Integer({
      description: 'Version of the API; increases with a change that breaks clients',
      examples: [1],
    }),
  },
  { title: 'Version' },
)

export function addService(app: App, deps: ServiceDeps, version: string): void {
  // Serialized once: it is large, and needs no key.
  let document: string | undefined
  app.get('/livez', {
    config: { refusals: ['J-911'] },
    schema: {
      operationId: 'livez',
      tags: ['service'],
      summary: 'Liveness: the process is running',
      security: [],
      response: { 200: Health },
    },
    handler: async () => ({ status: 'ok' as const }),
  })

  app.get('/readyz', {
    config: { refusals: ['J-909', 'J-910', 'J-911'] },
    schema: {
      operationId: 'readyz',
      tags: ['service'],
      summary: 'Readiness: the storage is writable and the service is not stopping',
      security: [],
      response: { 200: Health },
    },
    handler: async () => {
      if (deps.stopping.aborted) throw new ApiError('J-910', { retryAfterSeconds: 5 })
      await deps.health.check()
      return { status: 'ok' as const }
    },
  })

  app.get('/version', {
    config: { refusals: ['J-911'] },
    schema: {
      operationId: 'version',
      tags: ['service'],
      summary: 'The version of the service and of its API',
      security: [],
      response: { 200: Version },
    },
    handler: async () => ({ version, api: apiVersion }),
  })

  app.get('/openapi.json', {
    config: { refusals: ['J-911'] },
    schema: {
      operationId: 'openapi',
      tags: ['service'],
      summary: 'This document',
      security: [],
      response: { 200: Type.Unsafe<string>(Type.Object({}, { additionalProperties: true })) },
    },
    handler: async (_request, reply) => {
      document ??= JSON.stringify(app.swagger())
      return reply.header('content-type', 'application/json; charset=utf-8').send(document)
    },
  })
}

export function addMetrics(app: App, deps: Pick<ServiceDeps, 'metrics'>): void {
  app.get('/metrics', {
    config: { refusals: ['J-911'] },
    schema: {
      operationId: 'metrics',
      tags: ['service'],
      summary: 'Metrics in the Prometheus text format',
      security: [],
      response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
    },
    handler: async (_request, reply) =>
      reply.header('content-type', deps.metrics.contentType).send(await deps.metrics.text()),
  })
}
