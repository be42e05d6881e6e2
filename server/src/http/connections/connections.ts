// Connection rules that apply to every route.
//
// This folder works below routes, so that one client cannot slow down the others. Read next: turns.ts, large requests one
// after the other; pipelining.ts, feed-in-turns.ts and refuse-cut-addresses.ts, clients that do not wait for responses;
// held-request.ts and count-stream.ts, long responses; pace-downloads.ts and slow-transfers.ts, files; count-bodies.ts, bodies that are
// being received.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app-type.ts'
import { countHeader } from '../wire/count-header.ts'

const maxHeaders = 64
/** How long a refused client may keep sending before the connection is destroyed. */
const lingerMs = 5000

/** Connections about to be closed. Node has already parsed requests pipelined behind the refused one. */
const refused = new WeakSet<Socket>()

/** The latest response of each connection, and responses that are the last on theirs. */
const newestAnswer = new WeakMap<Socket, ServerResponse>()
const lastAnswers = new WeakSet<ServerResponse>()

/** Must be called first, so that its hook runs first. */
export function keepConnections(app: App, isStopping: () => boolean): void {
  const silent = watchSilent(app)
  app.decorateRequest('route')
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    request.route = request.routeOptions.config
    silent.delete(socket)
    newestAnswer.set(socket, reply.raw)
    const error = refused.has(socket) ? new ApiError('J-907') : malformation(request)
    if (error) refused.add(socket)
    done(error)
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id)
    const { raw } = request
    const refusedEarly = !raw.complete && reply.statusCode >= 400
    const malformed = request.errorCode === 'J-906' || request.errorCode === 'J-907'
    // Unauthenticated clients that exceed a rate limit must reconnect.
    const isThrottled = request.errorCode === 'J-911' && request.caller === null
    const isClosed = refusedEarly || malformed || isThrottled || isStopping() || lastAnswers.has(reply.raw)
    if (isClosed) {
      reply.header('connection', 'close')
      lastAnswers.add(reply.raw)
    }
    // Fastify sets this header after a body that cannot be parsed, although the body was read completely.
    else if (request.errorCode !== undefined) reply.removeHeader('connection')
    if (refusedEarly) lingerOnClose(raw.socket)
    done()
  })
}

/** Connections without a request so far. Node does not count them as idle, so closing the server would wait for them. */
function watchSilent(app: App): Set<Socket> {
  const silent = new Set<Socket>()
  const isTls = 'setSecureContext' in app.server
  app.server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.addHook('preClose', (done) => {
    for (const socket of silent) socket.destroy()
    done()
  })
  return silent
}

/**
 * Called when the input after a request is not HTTP. If a complete request still waits for its response, that response
 * becomes the last one on the connection and the result is true. It is also true if the response was the last one anyway.
 */
export function closeAfterAnswer(socket: Socket): boolean {
  const answer = newestAnswer.get(socket)
  if (answer === undefined || !answer.req.complete) return false
  // A last response that has ended may still be in the buffer of the connection.
  if (answer.writableEnded) return lastAnswers.has(answer)
  lastAnswers.add(answer)
  return true
}

/** Malformed requests that Node's parser accepts. */
function malformation(request: FastifyRequest): ApiError | undefined {
  const { rawHeaders, httpVersion } = request.raw
  // rawHeaders alternates names and values.
  if (rawHeaders.length / 2 >= maxHeaders) return new ApiError('J-906')
  const hosts = countHeader(request, 'host')
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    return new ApiError('J-907', { detail: 'The request must have exactly one Host header.' })
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new ApiError('J-907', { detail: 'The version must be HTTP/1.1.' })
  }
  return undefined
}

/**
 * Closing a socket whose peer is still sending resets it, and the reset can overtake our response.
 * So we end our side, let the peer read, discard what it sends, and destroy the socket soon after.
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.resume()
    endAndLinger(socket, '')
  }
}

export function endAndLinger(socket: Socket, lastBytes: string): void {
  socket.end(lastBytes)
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
