// Compresses large JSON responses for clients that accept gzip. Only responses to GET without secrets: the length of a
// compressed response reveals something about a secret next to text that an attacker chose (BREACH). Triggers and streams
// are not compressed.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app-type.ts'

const zip = promisify(gzip)
const minBytes = 1024
// Takes a fifth of the time of the default level, for a tenth more bytes.
const level = 3

const compressed = [
  '/job/api/executions',
  '/job/api/runs',
  '/job/api/fleet',
  '/job/api/stats',
  '/job/api/devices',
  '/job/api/jobs',
  '/openapi.json',
]

/** Must be called before routes are added. */
export function compressAnswers(app: App): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !compressed.some((prefix) => isBelow(route.url, prefix))) return
    const others = route.onSend === undefined ? [] : [route.onSend].flat()
    route.onSend = [...others, compress]
  })
}

async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const vary = reply.getHeader('vary')
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`)
  if (typeof payload !== 'string' || payload.length < minBytes || !acceptsGzip(request)) return payload
  reply.header('content-encoding', 'gzip').removeHeader('content-length')
  return zip(payload, { level })
}

/** `gzip;q=0` refuses it. */
function acceptsGzip({ headers }: FastifyRequest): boolean {
  const given = String(headers['accept-encoding'] ?? '').toLowerCase()
  return given.split(',').some((each) => {
    const [coding, ...parameters] = each.split(';').map((part) => part.trim())
    return (coding === 'gzip' || coding === '*') && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part))
  })
}

function isBelow(url: string, prefix: string): boolean {
  return url === prefix || url.startsWith(`${prefix}/`)
}
