// ?wait=: how long this request may be held, and the sign that nobody waits for its answer any more.

import type { FastifyReply } from 'fastify'
import type { Patience } from '../domain/wait-for-end.ts'

export function patienceOf(reply: FastifyReply, waitSeconds: number): Patience {
  const gone = new AbortController()
  // The answer, not its socket: a connection that is kept open carries many answers.
  reply.raw.once('close', () => gone.abort())
  return { waitMs: waitSeconds * 1000, callerGone: gone.signal }
}
