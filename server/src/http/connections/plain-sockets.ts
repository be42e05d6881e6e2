// Plain triggers without Node's HTTP objects and streams, which are more than half of what is left of their CPU time. A new
// connection is ours as long as each read from it is exactly one whole plain trigger, spelled as clients spell it. With
// anything else, or in doubt, it becomes Node's, together with what was read, and stays so.

import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from '../app-type.ts'
import { triggerPath } from '../routes/trigger-job.ts'
import { feedInTurns } from './feed-in-turns.ts'
import { type PlainHeaders, readPlainHeaders } from './plain-headers.ts'
import { type PlainAnswer, type PlainCall, PlainTrigger, type PlainTriggerParts } from './plain-trigger.ts'

/** Who says nothing for so long is Node's: it knows how long a request may take. */
const silentMs = 1000
const maxHeadBytes = 4096
/** For answers under way when the service stops. */
const lastAnswersMs = 8000

const headEnd = Buffer.from('\r\n\r\n')
const requestLine = `POST ${triggerPath} HTTP/1.1\r\n`
// Visible ASCII: what else a value may hold, Node decides.
const header = /^([A-Za-z-]{1,64}): ([!-~](?:[ -~]{0,2000}[!-~])?)$/

type Accept = (this: Server, socket: Socket) => void

/** Must be called before the service listens; not for TLS, where connections come another way. */
export function servePlainSockets(app: App, parts: PlainTriggerParts): void {
  const server = app.server as Server
  const [accept] = server.listeners('connection') as Accept[]
  if (accept === undefined) throw new Error('there is no listener for connections')
  server.removeListener('connection', accept)
  const ours = new Set<PlainSocket>()
  const fixed = headText(parts.headers)
  server.on('connection', (socket: Socket) => {
    const plain = new PlainSocket(socket, server, { ...parts, fixed }, (isNodes) => {
      ours.delete(plain)
      if (!isNodes) return
      accept.call(server, socket)
      feedInTurns(socket)
    })
    ours.add(plain)
  })
  app.addHook('preClose', (done) => {
    for (const plain of ours) plain.stop()
    done()
  })
}

type SocketParts = PlainTriggerParts & {
  /** The headers of every answer, as they are sent. */
  fixed: string
}

class PlainSocket implements PlainCall {
  readonly #socket: Socket
  readonly #server: Server
  readonly #parts: SocketParts
  readonly #leave: (isNodes: boolean) => void
  /** The latest head, and what it says: clients send the same one again and again. */
  #head = ''
  #headers: PlainHeaders | undefined
  #hasAsked = false
  #isBusy = false
  /** Came while another was being answered. */
  #next: Buffer | undefined
  #hasEnded = false

  constructor(socket: Socket, server: Server, parts: SocketParts, leave: (isNodes: boolean) => void) {
    this.#socket = socket
    this.#server = server
    this.#parts = parts
    this.#leave = leave
    socket.setTimeout(silentMs)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout)
    socket.on('error', this.#onError).on('close', this.#onClose)
  }

  get address(): string | undefined {
    return this.#socket.remoteAddress
  }

  get userAgent(): string | undefined {
    return this.#headers?.userAgent
  }

  send({ status, own, requestId, json }: PlainAnswer): void {
    const socket = this.#socket
    const isLast = this.#hasEnded || this.#parts.connections.isStopping()
    const head =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headText(own)}${this.#parts.fixed}x-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(json)}\r\n${isLast ? 'connection: close\r\n' : ''}Date: ${httpDate()}\r\n` +
      `${isLast ? '' : this.#kept}\r\n`
    const hasRoom = typeof json === 'string' ? socket.write(head + json) : this.#writeBoth(head, json)
    if (isLast) socket.destroySoon()
    else if (hasRoom) this.#rest()
    else socket.once('drain', () => this.#rest())
  }

  #writeBoth(head: string, json: Buffer): boolean {
    const socket = this.#socket
    socket.cork()
    socket.write(head)
    const hasRoom = socket.write(json)
    socket.uncork()
    return hasRoom
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** What is under way is answered still. */
  stop(): void {
    if (this.#isBusy) this.#socket.setTimeout(lastAnswersMs)
    else this.#socket.destroy()
  }

  get #kept(): string {
    const seconds = Math.floor(this.#server.keepAliveTimeout / 1000)
    return `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }

  readonly #onData = (chunk: Buffer) => {
    if (!this.#isBusy) {
      this.#take(chunk)
      return
    }
    this.#socket.pause()
    this.#next = this.#next ? Buffer.concat([this.#next, chunk]) : chunk
  }

  readonly #onEnd = () => {
    this.#hasEnded = true
    if (!this.#isBusy) this.#socket.end()
  }

  readonly #onTimeout = () => {
    if (this.#hasAsked) this.#socket.destroy()
    else this.#handOver()
  }

  readonly #onError = () => this.#socket.destroy()

  readonly #onClose = () => this.#leave(false)

  #take(chunk: Buffer): void {
    const body = this.#bodyOf(chunk)
    const headers = this.#headers
    if (body === undefined || headers === undefined) {
      this.#handOver(chunk)
      return
    }
    this.#isBusy = true
    if (!this.#hasAsked) {
      this.#hasAsked = true
      this.#parts.connections.hasAsked(this.#socket)
      this.#socket.setTimeout(this.#server.keepAliveTimeout + keepAliveBufferMs)
    }
    const trigger = new PlainTrigger(this.#parts, this)
    let isDecided = false
    const decide = (next: () => void) => () => {
      isDecided = true
      if (this.#socket.isPaused()) this.#socket.resume()
      next()
    }
    trigger.admit(
      headers.apiKey,
      decide(() => trigger.serve(body)),
      decide(() => this.#handOver(chunk)),
    )
    // The end may not be seen before it is known to whom.
    if (!isDecided) this.#socket.pause()
  }

  /** Undefined: it is not one whole plain trigger. */
  #bodyOf(chunk: Buffer): Buffer | undefined {
    const end = chunk.indexOf(headEnd)
    if (end < 0 || end > maxHeadBytes) return undefined
    const head = chunk.toString('latin1', 0, end)
    if (head !== this.#head) {
      this.#head = head
      this.#headers = readHead(head)
    }
    const from = end + headEnd.length
    return this.#headers?.bodyBytes === chunk.length - from ? chunk.subarray(from) : undefined
  }

  /** The answer is on its way. */
  #rest(): void {
    this.#isBusy = false
    const next = this.#next
    if (this.#socket.destroyed || next === undefined) return
    this.#next = undefined
    this.#socket.resume()
    this.#take(next)
  }

  #handOver(chunk?: Buffer): void {
    const socket = this.#socket
    if (socket.destroyed) return
    // Its end was seen, and cannot be seen again: Node, which ends such a connection, would keep it.
    if (this.#hasEnded) {
      socket.destroy()
      return
    }
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout)
    socket.off('error', this.#onError).off('close', this.#onClose)
    socket.setTimeout(0)
    socket.pause()
    const rest = this.#next
    if (rest) socket.unshift(rest)
    if (chunk) socket.unshift(chunk)
    this.#leave(true)
    socket.resume()
  }
}

// Node waits so much longer than it says, for requests that are on their way.
const keepAliveBufferMs = 1000

function readHead(head: string): PlainHeaders | undefined {
  if (!head.startsWith(requestLine)) return undefined
  const rawHeaders: string[] = []
  for (const line of head.slice(requestLine.length).split('\r\n')) {
    const [, name, value] = header.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    rawHeaders.push(name, value)
  }
  return readPlainHeaders({ rawHeaders, httpVersion: '1.1' })
}

function headText(headers: readonly string[]): string {
  let text = ''
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  return text
}

let dateSecond = 0
let dateText = ''

function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}
