// Where every field may be left out, so may the body.

import type { FastifyRequest } from 'fastify'

export async function emptyBodyAsObject(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
