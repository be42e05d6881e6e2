// ?wait=: how long this request may be held, and the sign that nobody waits for its answer any more.

import type { FastifyRequest } from 'fastify'
import type { Patience } from '../domain/wait-for-end.ts'

export function patienceOf(request: FastifyRequest, waitSeconds: number): Patience {
  const gone = new AbortController()
  request.raw.socket.once('close', () => gone.abort())
  return { waitMs: waitSeconds * 1000, callerGone: gone.signal }
}
