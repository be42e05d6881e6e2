// Node parses the result of one read at once: 1,600 requests in 64 KB, about 25 ms. Here its parser gets a slice at a time,
// and a connection that has begun some requests waits for the next turn of the event loop.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Fits at most 57 requests. */
const sliceBytes = 1024
const requestsPerTurn = 8

type OnData = (this: Socket, chunk: Buffer) => void
type OnEnd = () => void

const feeds = new WeakMap<Socket, Feed>()

/** Must be called once, after the listeners for requests were added. */
export function countBegunRequests(server: Server): void {
  server.prependListener('request', ({ socket }) => feeds.get(socket)?.requestBegun())
}

export function feedAllInTurns(server: Server): void {
  const isTls = 'setSecureContext' in server
  server.on(isTls ? 'secureConnection' : 'connection', feedInTurns)
}

/** Must be called when Node's HTTP server has just accepted the connection. */
function feedInTurns(socket: Socket): void {
  const parse = socket.listeners('data').at(-1) as OnData | undefined
  const onEnd = socket.listeners('end').at(-1) as OnEnd | undefined
  if (parse === undefined || onEnd === undefined) return
  socket.removeListener('data', parse)
  const feed = new Feed(socket, parse, onEnd)
  feeds.set(socket, feed)
  socket.on('data', feed.onData)
}

/** The number of bytes that were read from a connection and are not parsed yet. */
export function unparsedBytes(socket: Socket): number {
  return feeds.get(socket)?.waitingBytes ?? 0
}

class Feed {
  readonly #socket: Socket
  readonly #parse: OnData
  readonly #onEnd: OnEnd
  #waiting: Buffer[] = []
  #begun = 0
  #isScheduled = false

  constructor(socket: Socket, parse: OnData, onEnd: OnEnd) {
    this.#socket = socket
    this.#parse = parse
    this.#onEnd = onEnd
  }

  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { length }) => sum + length, 0)
  }

  requestBegun(): void {
    this.#begun++
  }

  readonly onData = (chunk: Buffer) => {
    this.#waiting.push(chunk)
    if (!this.#isScheduled) this.#feed()
  }

  #feed(): void {
    const socket = this.#socket
    this.#begun = 0
    for (let chunk = this.#waiting.shift(); chunk !== undefined; chunk = this.#waiting.shift()) {
      if (chunk.length > sliceBytes) this.#waiting.unshift(chunk.subarray(sliceBytes))
      this.#parse.call(socket, chunk.length > sliceBytes ? chunk.subarray(0, sliceBytes) : chunk)
      if (socket.destroyed || this.#isDetached()) return
      if (this.#waiting.length === 0) break
      if (this.#begun < requestsPerTurn && !socket.writableNeedDrain) continue
      this.#isScheduled = true
      socket.pause()
      // Nothing is read from a client that does not read its responses.
      if (socket.writableNeedDrain) socket.once('drain', this.#continue)
      else setImmediate(this.#continue)
      return
    }
    if (socket.isPaused() && !socket.writableNeedDrain) socket.resume()
  }

  readonly #continue = () => {
    this.#isScheduled = false
    if (!this.#socket.destroyed) this.#feed()
  }

  /** The connection was upgraded to a WebSocket. A client that sends more before the upgrade is confirmed is disconnected. */
  #isDetached(): boolean {
    if (this.#socket.listenerCount('end', this.#onEnd) > 0) return false
    this.#socket.removeListener('data', this.onData)
    if (this.#waiting.length > 0) this.#socket.destroy()
    return true
  }
}
