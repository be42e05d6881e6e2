// One request of the API: sent, repeated where that is safe, its answer read.

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

/** What every call accepts. */
export type CallOptions = { signal?: AbortSignal | undefined }

export type JobcastOptions = {
  /** Where the service is, for example `https://jobcast.example.com`; a path before `/job/api` is kept. */
  url: string | URL
  /** Left out in a page that the service itself serves: its session stands for the key. */
  apiKey?: string | undefined
  /** Another than the global one. */
  fetch?: typeof fetch | undefined
  /** How often a call is sent once more where that is safe; 4 unless said. */
  maxRetries?: number | undefined
  /** How long one try of a call may take, besides the time it asks the service to wait; 30,000 unless said. */
  timeoutMs?: number | undefined
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
}

export type Call = CallOptions & {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: string
  query?: object
  body?: unknown
  headers?: Record<string, string>
  /** Does no harm when it is served twice. GET, PUT and DELETE do none unless said. */
  safe?: boolean
  /** How many seconds the service is asked to hold its answer. */
  holdSeconds?: number | undefined
  /** Whether this answer to a repeated request says that the one before it was served; there is no value then. */
  wasServedBefore?: (error: JobcastError) => boolean
}

export type Answer<T> = {
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
    // A browser's fetch must not be called as a method of something else.
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
    for (let tryNo = 1; ; tryNo++) {
      try {
        return await this.#once<T>(call, request)
      } catch (error) {
        if (tryNo > 1 && isJobcastError(error) && call.wasServedBefore?.(error)) {
          return { status: error.status, headers: new Headers(), value: undefined as T }
        }
        if (tryNo > this.maxRetries || !mayRepeat(error, safe)) throw error
        await pause(pauseMsBefore(tryNo, error), call.signal)
      }
    }
  }

  /** One try, and the answer as soon as it begins. The signal also ends the reading of it. */
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

  /** What went wrong on the way, in our own words. */
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

  /** Before anything is sent: what cannot be sent at all is the caller's mistake, and no trouble on the way. */
  #prepare({ method, path, query = {}, body, headers }: Call): Prepared {
    const type = body !== undefined && { 'content-type': 'application/json' }
    return {
      url: `${this.#url}${path}${queryText(query)}`,
      init: {
        method,
        headers: new Headers({ ...this.#headers, ...type, ...headers }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Whoever follows a redirect hands the key to where it leads.
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
