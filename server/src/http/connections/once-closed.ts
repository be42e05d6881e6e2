// What is held for the time of a response.

import type { FastifyReply } from 'fastify'

/** The response, not its socket: a kept-alive connection carries many. At once, if the client has left already. */
export function onceClosed({ raw }: Pick<FastifyReply, 'raw'>, done: () => void): void {
  if (raw.destroyed) done()
  else raw.once('close', done)
}
