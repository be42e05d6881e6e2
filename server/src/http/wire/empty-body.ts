// If every field is optional, so is the body.

import type { FastifyRequest } from 'fastify'

export async function emptyBodyAsObject(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
