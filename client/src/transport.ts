// Sends one API request, retries it if that is safe, and reads its response.

import {
  ConnectionError,
  isJobcastError,
  JobcastClientError,
  type JobcastError,
  UnexpectedAnswer,
} from './errors.ts'
import { queryText } from './path.ts'
import { pause } from './pause.ts'
import { readError } from './read-error.ts'
import { mayRepeat, pauseMsBefore } from './repeat.ts'
import { startTimeLimit } from './time-limit.ts'

/** Options of every call. */
export type CallOptions = { signal?: AbortSignal | undefined }

export type JobcastOptions = {
  /** The address of the service, for example `https://jobcast.example.com`; a path before `/job/api` is kept. */
  url: string | URL
  /** Not needed in a page served by the service itself, which uses its session. */
  apiKey?: string | undefined
  /** Replaces the global fetch. */
  fetch?: typeof fetch | undefined
  /** How often a call is retried if that is safe; by default 4. */
  maxRetries?: number | undefined
  /** Time limit of one try, in addition to a requested wait; by default 30,000. */
  timeoutMs?: number | undefined
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
}

export type Call = CallOptions & {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: object
  body?: unknown
  /** A text body, instead of `body`. */
  text?: string
  /** A body of bytes; a Blob is read while it is sent. */
  content?: Blob | Uint8Array<ArrayBuffer> | string
  headers?: Record<string, string>
  /** Idempotent. By default true for GET, PUT and DELETE. */
  safe?: boolean
  /** Overrides the option of the client. */
  maxRetries?: number | undefined
  /** How many seconds the service may hold its response. */
  holdSeconds?: number | undefined
  /** Whether this error of a retry means that an earlier try succeeded; then there is no value. */
  wasServedBefore?: (error: JobcastError) => boolean
}

type Answer<T> = {
  status: number
  headers: Headers
  value: T
}

type Prepared = { url: string; init: RequestInit }

const accept = 'application/json, application/problem+json'

export class Transport {
  readonly maxRetries: number
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #fetch: typeof fetch
  readonly #timeoutMs: number

  constructor({ url, apiKey, headers, maxRetries = 4, timeoutMs = 30_000, ...options }: JobcastOptions) {
    const { origin, pathname } = new URL(url)
    this.#url = `${origin}${pathname.replace(/\/+$/, '')}`
    this.#headers = { accept, ...headers, ...(apiKey !== undefined && { 'x-api-key': apiKey }) }
    // A browser's fetch must not be called as a method of another object.
    const given = options.fetch ?? globalThis.fetch
    this.#fetch = (...args) => given(...args)
    this.maxRetries = maxRetries
    this.#timeoutMs = timeoutMs
  }

  async value<T>(call: Call): Promise<T> {
    return (await this.answer<T>(call)).value
  }

  async answer<T>(call: Call): Promise<Answer<T>> {
    const safe = call.safe ?? call.method !== 'POST'
    const request = this.#prepare(call)
    const maxRetries = call.maxRetries ?? this.maxRetries
    for (let tryNo = 1; ; tryNo++) {
      try {
        return await this.#once<T>(call, request)
      } catch (error) {
        if (tryNo > 1 && isJobcastError(error) && call.wasServedBefore?.(error)) {
          return { status: error.status, headers: new Headers(), value: undefined as T }
        }
        if (tryNo > maxRetries || !mayRepeat(error, safe)) throw error
        await pause(pauseMsBefore(tryNo, error), call.signal)
      }
    }
  }

  /** One try; resolves when the response starts. The signal also aborts reading it. */
  async open(call: Call): Promise<Response> {
    const { url, init } = this.#prepare(call)
    try {
      const response = await this.#fetch(url, { ...init, ...(call.signal && { signal: call.signal }) })
      if (!response.ok) throw readError(response, await response.text())
      return response
    } catch (error) {
      throw this.toThrow(error, call)
    }
  }

  /** Wraps a network error. */
  toThrow(error: unknown, { method, path, signal }: Call): unknown {
    if (signal?.aborted) return signal.reason
    if (error instanceof JobcastClientError) return error
    return new ConnectionError(`no answer to ${method} ${this.#url}${path}: ${reasonOf(error)}`, {
      cause: error,
    })
  }

  async #once<T>(call: Call, { url, init }: Prepared): Promise<Answer<T>> {
    const limit = startTimeLimit(this.#timeoutMs + (call.holdSeconds ?? 0) * 1000, call.signal)
    try {
      const response = await this.#fetch(url, { ...init, signal: limit.signal })
      const text = await response.text()
      if (!response.ok) throw readError(response, text)
      return { status: response.status, headers: response.headers, value: parse<T>(response, text) }
    } catch (error) {
      throw this.toThrow(error, call)
    } finally {
      limit.end()
    }
  }

  /** Built before anything is sent: an invalid request is the caller's mistake, not a network error. */
  #prepare({ method, path, query = {}, body, text, content, headers }: Call): Prepared {
    const type = body !== undefined && { 'content-type': 'application/json' }
    return {
      url: `${this.#url}${path}${queryText(query)}`,
      init: {
        method,
        headers: new Headers({ ...this.#headers, ...type, ...headers }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(text !== undefined && { body: text }),
        ...(content !== undefined && { body: content }),
        // Following a redirect would send the key to its target.
        redirect: 'manual',
      },
    }
  }
}

function parse<T>(response: Response, text: string): T {
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch {
    throw new UnexpectedAnswer(`${response.url} did not answer with JSON`, response.status)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
