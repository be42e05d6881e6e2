// Bodies are read as bytes whatever their Content-Type: many devices send JSON with the type their library happens to set.

import type { FastifyRequest } from 'fastify'
import { parsePayload } from '../../domain/execution/device-request.ts'
import type { GatewayApp } from './gateway-app.ts'
import { wrongEncoding } from './refusal.ts'

/** Same limit as an MQTT packet. */
export const maxBodyBytes = 128 * 1024

export function readBytes(gateway: GatewayApp): void {
  gateway.removeAllContentTypeParsers()
  gateway.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  gateway.addHook('onRequest', (request, _reply, done) => {
    done(request.headers['content-encoding'] === undefined ? undefined : wrongEncoding())
  })
}

/** A missing body is an empty request. */
export function fieldsOf(request: FastifyRequest): Record<string, unknown> {
  return parsePayload(bytesOf(request))
}

/** Output may also be sent as raw bytes, with its offset in the query. */
export function outputFieldsOf(request: FastifyRequest): Record<string, unknown> {
  const { offset, executionNumber } = request.query as Record<string, unknown>
  if (offset === undefined || /^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return fieldsOf(request)
  }
  return { offset, executionNumber, data: bytesOf(request).toString('base64'), encoding: 'base64' }
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return body instanceof Buffer ? body : Buffer.alloc(0)
}
