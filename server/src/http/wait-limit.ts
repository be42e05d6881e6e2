// How long a request with ?wait= may be held, and the signal that its client has disconnected.

import type { FastifyReply } from 'fastify'
import type { WaitLimit } from '../domain/wait-for-end.ts'

export function waitLimitOf(reply: FastifyReply, waitSeconds: number): WaitLimit {
  const gone = new AbortController()
  // The response, not its socket: a kept-alive connection carries many responses.
  reply.raw.once('close', () => gone.abort())
  return { waitMs: waitSeconds * 1000, callerGone: gone.signal }
}
