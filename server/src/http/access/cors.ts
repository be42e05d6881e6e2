// Pages of other origins that may call the API with a key (setting cors-origins). They get no cookie: sessions are for our
// own pages only.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app-type.ts'

const exposed = 'location, etag, x-request-id, idempotency-replayed, retry-after, ratelimit, ratelimit-policy'
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const headers =
  'content-type, x-api-key, idempotency-key, if-match, accept, last-event-id, traceparent, x-request-id, content-digest, digest'
const askAgainSeconds = '600'

/** Must be called before callers are authenticated, because preflight requests have no key. */
export function allowOrigins(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    if (!isApi(request)) return done()
    reply.header('vary', 'origin')
    const { origin } = request.headers
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposed)
    if (isPreflight(request)) answerPreflight(reply)
    else done()
  })
}

function answerPreflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header('access-control-allow-methods', methods)
    .header('access-control-allow-headers', headers)
    .header('access-control-max-age', askAgainSeconds)
    .send()
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function isApi({ raw }: FastifyRequest): boolean {
  return raw.url?.startsWith('/job/api/') ?? false
}
