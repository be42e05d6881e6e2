// Requests that a client sends without waiting for answers are served one after the other, each in a turn of the event
// loop of its own: Node parses 1,600 of them out of one read, and would start them all at once.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Exchange = { request: IncomingMessage; response: ServerResponse }

/**
 * Far more than any client pipelines. A client that sends more is disconnected: what Node has parsed by then costs about 25 ms,
 * once per connection.
 */
const maxWaiting = 64

/** Must be called after the listener for requests was added. */
export function serveOneByOne(server: Server): void {
  const [serve] = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[]
  if (serve === undefined) throw new Error('there is no listener for requests yet')
  server.removeAllListeners('request')
  /** Only connections on which a request is under way. */
  const waiting = new WeakMap<Socket, Exchange[]>()

  const begin = (socket: Socket, { request, response }: Exchange) => {
    response.once('close', () => next(socket))
    serve.call(server, request, response)
  }
  const next = (socket: Socket) => {
    const exchange = waiting.get(socket)?.shift()
    if (exchange === undefined) waiting.delete(socket)
    else if (!socket.destroyed) setImmediate(begin, socket, exchange)
  }
  server.on('request', (request, response) => {
    const { socket } = request
    const queue = waiting.get(socket)
    if (queue === undefined) {
      waiting.set(socket, [])
      begin(socket, { request, response })
    } else if (queue.length < maxWaiting) queue.push({ request, response })
    else socket.destroy()
  })
}
