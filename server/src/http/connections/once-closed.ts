// Releases resources at the end of a response.

import type { FastifyReply } from 'fastify'

/** Watches the response and not its socket, because a connection carries many. Calls at once if it is closed already. */
export function onceClosed({ raw }: Pick<FastifyReply, 'raw'>, done: () => void): void {
  if (raw.destroyed) done()
  else raw.once('close', done)
}
