// Pipelined requests are served one after the other, each in its own turn of the event loop: Node parses up to 1,600 of them
// from one read, and would start them all at once.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { unparsedBytes } from './feed-in-turns.ts'

type Exchange = { request: IncomingMessage; response: ServerResponse }

/**
 * Far more than any client pipelines. A client that sends more is disconnected, and its requests are counted for its address:
 * connections from an address with too many of them are refused for a while.
 */
const maxWaiting = 64

/** The shortest request: `GET / HTTP/1.1` with a Host. */
const bytesPerRequest = 32

/** Called for a connection that was cut off, with the number of its unanswered requests. */
export type OnCut = (socket: Socket, requests: number) => void

/** Must be called after the listener for requests was added. */
export function serveOneByOne(server: Server, onCut: OnCut = () => undefined): void {
  const [serve] = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[]
  if (serve === undefined) throw new Error('there is no listener for requests yet')
  server.removeAllListeners('request')
  /** Only connections on which a request is in progress. */
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
    else {
      onCut(socket, queue.length + Math.ceil(unparsedBytes(socket) / bytesPerRequest))
      waiting.set(socket, [])
      socket.destroy()
    }
  })
}
