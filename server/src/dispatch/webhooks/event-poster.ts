// One POST to a receiver: only to an allowed address, with a time-out, without following redirects.

import { type LookupAddress, lookup } from 'node:dns'
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { IsAllowedAddress } from '../../domain/webhook/allowed-address.ts'
import { readAnswerText } from './answer-text.ts'
import type { Message } from './sign-event.ts'

/**
 * `error` is null if the receiver accepted the event; the owner of the webhook sees it. `detail` is for the operator's log
 * only: the reason of a failed connection reveals which names and addresses exist in the operator's network. The receiver's
 * answer is shown to the owner, but not logged.
 */
export type Answer = { status: number | null; error: string | null; retryAfterMs: number; detail?: string }

const notConnected = 'could not connect'

/** The duration shown to the owner of the webhook: whole seconds reveal a timeout, but not whether a name resolved. */
export function shownMs({ error }: Answer, ms: number): number {
  return error === notConnected ? Math.max(1, Math.ceil(ms / 1000)) * 1000 : ms
}

export type PosterOptions = {
  isAllowedAddress: IsAllowedAddress
  userAgent: string
  now: () => number
  timeoutMs?: number
}

const defaultTimeoutMs = 15_000
/** Up to this much of a response body is read, so that the connection can be reused; only the beginning of a rejection is kept. */
const maxAnswerBytes = 64 * 1024
const maxRetryAfterMs = 60 * 60_000
const idleMs = 20_000
const maxErrorLength = 200

const forbidden = 'the host has no address that this service is allowed to send to'
const stale = Symbol('the receiver had closed the kept-alive connection')

export class EventPoster {
  readonly #options: PosterOptions
  readonly #timeoutMs: number
  readonly #http = new HttpAgent({ keepAlive: true, timeout: idleMs })
  readonly #https = new HttpsAgent({ keepAlive: true, timeout: idleMs })

  constructor(options: PosterOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  }

  /** Undefined if we aborted the request. */
  async post(message: Message, abort: AbortSignal): Promise<Answer | undefined> {
    const answer = await this.#send(message, abort)
    if (answer !== stale) return answer
    const second = await this.#send(message, abort)
    return second === stale ? failure('the connection was closed') : second
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  #send(message: Message, abort: AbortSignal): Promise<Answer | undefined | typeof stale> {
    const url = new URL(message.url)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // Node calls `lookup` for names only, so an IP address in the URL is checked here.
    if (isIP(host) !== 0 && !this.#options.isAllowedAddress(host))
      return Promise.resolve(noConnection(forbidden))
    const isSecure = url.protocol === 'https:'
    return new Promise((resolve) => {
      const request = (isSecure ? requestHttps : requestHttp)(url, {
        method: 'POST',
        agent: isSecure ? this.#https : this.#http,
        lookup: this.#lookup,
        signal: abort,
        headers: {
          ...message.headers,
          'user-agent': this.#options.userAgent,
          'content-length': Buffer.byteLength(message.body),
        },
      })
      let judged: (() => Answer) | undefined
      let isConnected = false
      request.on('socket', (socket) => {
        const onConnected = () => {
          isConnected = true
        }
        if (socket.connecting) socket.once('connect', onConnected)
        else onConnected()
      })
      const failed = (text: string) => (isConnected ? failure(text) : noConnection(text))
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
      )
      const finish = (answer: Answer | undefined | typeof stale) => {
        clearTimeout(timer)
        resolve(answer)
      }
      request.on('response', (response) => {
        judged = judge(response, this.#options.now())
        drain(response)
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (judged) finish(judged())
        else if (abort.aborted) finish(undefined)
        else if (request.reusedSocket && error.code === 'ECONNRESET') finish(stale)
        else finish(failed(error.message || error.code || 'the request failed'))
      })
      request.on('close', () => finish(judged?.() ?? failed('the connection was closed')))
      request.end(message.body)
    })
  }

  /** Checks the very addresses that are connected to, so that DNS rebinding cannot bypass the check. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
      const [first, ...others] = found.filter(({ address }) => this.#options.isAllowedAddress(address))
      if (error) callback(error, [])
      else if (first === undefined) callback(new Error(forbidden), [])
      else if (options.all) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    })
  }
}

function failure(error: string): Answer {
  return { status: null, error: error.slice(0, maxErrorLength), retryAfterMs: 0 }
}

/** The same for a name that does not resolve, one that resolves to a forbidden address, and a refused connection. */
function noConnection(detail: string): Answer {
  return { ...failure(notConnected), detail: detail.slice(0, maxErrorLength) }
}

/** Judges the response by its status and headers; the returned answer is complete once the request has ended. */
function judge(response: IncomingMessage, now: number): () => Answer {
  const { statusCode: status = 0, headers } = response
  if (status >= 200 && status < 300) return () => ({ status, error: null, retryAfterMs: 0 })
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfter(headers['retry-after'], now) : 0
  if (status >= 300 && status < 400)
    return () => ({ status, error: 'redirects are not followed', retryAfterMs })
  const detail = `the receiver answered ${status}`
  const said = readAnswerText(response)
  return () => {
    const text = said()
    return text === ''
      ? { status, error: detail, retryAfterMs }
      : { status, error: `${detail}: ${text}`, retryAfterMs, detail }
  }
}

/** Accepts seconds or an HTTP date. */
function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? 0 : Math.min(maxRetryAfterMs, Math.max(0, ms))
}

function drain(response: IncomingMessage): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) response.destroy()
  })
  // A truncated body does not matter: the status has already decided.
  response.on('error', () => undefined)
}
