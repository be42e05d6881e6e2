// The HTTP transport, for networks that block MQTT: long-polls for work, and polls the running execution.

import { setTimeout as sleep } from 'node:timers/promises'
import { type DeviceOperation, deviceErrors } from '@jobcast/contract'
import { connectionReason } from '@jobcast/contract/words'
import type { AgentEvent } from '../events.ts'
import type { AttemptKey } from '../state/attempt-key.ts'
import { HttpCaller } from './http-call.ts'
import { type Backoff, reconnectDelayMs } from './reconnect-delay.ts'
import { type Answer, isOver, NoAnswer, parseObject, rejectionOf, type Transport } from './transport.ts'

type HttpTransportOptions = {
  /** Address of the server, without a path. */
  url: string
  deviceId: string
  readToken: () => string
  backoff: Backoff
  tell: (event: AgentEvent) => void
  /** How often to check whether the running execution is over. */
  pollEveryMs?: number
}

const waitSeconds = 30
const answerWithinMs = 30_000
const defaultPollEveryMs = 5000

// Several codes share an exception; the last one is the one that our requests can cause.
const codes = new Map(
  Object.entries(deviceErrors).map(([code, { exception }]) => [exception as string, code]),
)

type Call = { method: string; path: string; body?: Record<string, unknown> }

export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions
  readonly #caller: HttpCaller
  readonly #stopping = new AbortController()
  #failures = 0
  #isConnected = false

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#caller = new HttpCaller(options.url)
  }

  start(): void {}

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#caller.close()
  }

  async ready(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#failures === 0) return
    await sleep(reconnectDelayMs(this.#failures, this.#options.backoff), undefined, { signal })
  }

  async request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    return this.#send(callOf(operation, fields), answerWithinMs)
  }

  async waitForWork(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.ready(signal)
      const call = { method: 'GET', path: `/jobs?wait=${waitSeconds}` }
      const answer = await this.#send(call, waitSeconds * 1000 + answerWithinMs, signal).catch(noAnswer)
      signal.throwIfAborted()
      // Back off after any refusal instead of retrying in a tight loop.
      if (answer?.outcome === 'rejected') this.#failures++
      if (answer?.outcome !== 'accepted') continue
      const { inProgressJobs, queuedJobs } = answer.json
      if ([inProgressJobs, queuedJobs].flat().length > 0) return
    }
  }

  watch(attempt: AttemptKey, onCancel: (deadlineSeconds: number) => void): () => void {
    const { pollEveryMs = defaultPollEveryMs } = this.#options
    let isPolling = false
    const poll = async () => {
      if (isPolling) return
      isPolling = true
      if (await isOver(this, attempt).catch(() => false)) onCancel(0)
      isPolling = false
    }
    const timer = setInterval(poll, pollEveryMs)
    return () => clearInterval(timer)
  }

  async #send(call: Call, withinMs: number, signal?: AbortSignal): Promise<Answer> {
    const { url } = this.#options
    try {
      const answer = await this.#fetch(call, withinMs, signal)
      this.#failures = 0
      if (!this.#isConnected) this.#options.tell({ kind: 'connected', url })
      this.#isConnected = true
      return answer
    } catch (error) {
      this.#failures++
      const reason = reasonOf(error)
      const isAbortedByUs = signal?.aborted || this.#stopping.signal.aborted
      if (!isAbortedByUs)
        this.#lost(error instanceof TokenRefused ? 'sign-in-refused' : 'no-connection', reason)
      throw new NoAnswer(reason)
    }
  }

  #lost(kind: 'sign-in-refused' | 'no-connection', reason: string): void {
    const { tell, url } = this.#options
    if (this.#isConnected) tell({ kind: 'disconnected', reason })
    else tell({ kind, url, reason })
    this.#isConnected = false
  }

  async #fetch({ method, path, body }: Call, withinMs: number, signal?: AbortSignal): Promise<Answer> {
    const { url, deviceId, readToken } = this.#options
    const signals = [this.#stopping.signal, AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]
    const { status, headers, text } = await this.#caller.call({
      method,
      url: `${url}/things/${encodeURIComponent(deviceId)}${path}`,
      headers: {
        authorization: `Bearer ${readToken()}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any(signals),
    })
    const json = parseObject(text)
    if (status >= 200 && status < 300 && json) return { outcome: 'accepted', json }
    if (status === 401 || status === 403) throw new TokenRefused()
    // A response without an exception comes from a proxy, not from the server, and decides nothing.
    const exception = String(headers['x-amzn-errortype'] ?? '')
    const rejection = json && rejectionOf(json, codes.get(exception) ?? json.code)
    if (rejection === undefined || status >= 500) throw new Error(`HTTP status ${status}`)
    return rejection
  }
}

class TokenRefused extends Error {
  constructor() {
    super('unknown device or invalid token')
  }
}

function callOf(operation: DeviceOperation, fields: Record<string, unknown>): Call {
  switch (operation.name) {
    case 'get':
      return { method: 'GET', path: '/jobs' }
    case 'start-next':
      return { method: 'PUT', path: '/jobs/$next', body: fields }
    case 'describe': {
      const query = new URLSearchParams(
        Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      )
      return { method: 'GET', path: `/jobs/${operation.jobId}?${query}` }
    }
    case 'update':
      return { method: 'POST', path: `/jobs/${operation.jobId}`, body: fields }
    case 'attributes':
      return { method: 'PUT', path: '/attributes', body: fields }
    case 'output':
      return { method: 'POST', path: `/jobs/${operation.jobId}/output`, body: fields }
  }
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error
}

/** If several addresses refused the connection, the reasons are in a list. */
function reasonOf(error: unknown): string {
  const { message, code, errors } = error as NodeJS.ErrnoException & { errors?: Error[] }
  return connectionReason(message || errors?.[0]?.message || String(code))
}
