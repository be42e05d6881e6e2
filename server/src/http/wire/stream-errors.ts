// Logs streams that fail after their headers were sent: the connection is cut, and nothing else would report it.

import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { ServiceEvent, Tell } from '../../observe/events.ts'

/** Errors before the headers are answered like any other. */
export function tellStreamErrors(
  stream: Readable,
  request: FastifyRequest,
  reply: FastifyReply,
  tell: Tell,
): void {
  stream.once('error', (error) => {
    if (reply.raw.headersSent) tell(eventOf(error, request))
  })
}

function eventOf(error: Error, { id, route }: FastifyRequest): ServiceEvent {
  if (error instanceof StorageUnavailable) return { kind: 'storage-unavailable', error }
  return { kind: 'request-failed', requestId: id, route: route.url ?? '', error }
}
