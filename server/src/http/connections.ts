// Rules of a connection that hold on every route.

import type { Socket } from 'node:net'
import { ApiError } from '@jobcast/contract'
import type { App } from './app-type.ts'

const maxHeaders = 64
/** How long a refused caller may go on sending before the connection is cut. */
const lingerMs = 1000

export function keepConnections(app: App, isStopping: () => boolean): void {
  app.addHook('onRequest', async (request) => {
    // rawHeaders holds names and values in turn.
    if (request.raw.rawHeaders.length / 2 >= maxHeaders) throw new ApiError('J-906')
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new ApiError('J-907', { detail: 'The Host header is missing.' })
    }
  })
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const { raw } = request
    const refusedEarly = !raw.complete && reply.statusCode >= 400
    const malformed = request.errorCode === 'J-906' || request.errorCode === 'J-907'
    if (isStopping() || refusedEarly || malformed) reply.header('connection', 'close')
    if (refusedEarly) lingerOnClose(raw.socket)
  })
}

/**
 * Closing a socket whose peer is still sending resets it, and the reset can overtake our answer.
 * So we end our side, let the peer read, throw away what it sends, and cut it off soon.
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    socket.resume()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}
