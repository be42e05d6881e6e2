// A plain trigger: a key, JSON, and no header beyond those that every client sends. It is the one hot route, and
// Fastify's general way through hooks, parsers and serializers is a third of its CPU time. So it is served here, by the same
// parts in the same order. What is not plain, or is refused before its body is read, takes the general way.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { ApiError, type TriggerRequest } from '@jobcast/contract'
import { type Caller, identifyCaller, KeyChanged, recallCaller } from '../domain/caller.ts'
import type { Store } from '../domain/ports/store.ts'
import type { LaunchedRun } from '../domain/ports/triggers.ts'
import { type TriggerDeps, triggerJob } from '../domain/trigger-job.ts'
import type { Tell } from '../observe/events.ts'
import type { AuthenticateDeps } from './authenticate.ts'
import type { Connections } from './connections.ts'
import { answerTo, errorBody, retryHeaders, type TellFailure } from './error-reply.ts'
import { parseBody } from './json-body.ts'
import { type PlainHeaders, readPlainHeaders } from './plain-headers.ts'
import { triggerPath } from './routes/trigger-job.ts'
import { triggeredJson } from './triggered-json.ts'
import { turnToAnswer } from './turns.ts'
import { shownUserAgent } from './user-agent.ts'

export type PlainTriggerParts = {
  deps: TriggerDeps & AuthenticateDeps & { store: Pick<Store, 'recallApiKey'>; tell: Tell }
  connections: Connections
  tellFailure: TellFailure
  nextRequestId: () => string
  /** Throws J-500. */
  checkBody: (body: unknown) => void
  /** Of every answer; names and values take turns. */
  headers: readonly string[]
}
type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Must be called after the listener for requests was added. */
export function servePlainTriggers(server: Server, parts: PlainTriggerParts): void {
  const [general] = server.listeners('request') as Serve[]
  if (general === undefined) throw new Error('there is no listener for requests yet')
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const isTrigger = request.url === triggerPath && request.method === 'POST'
    const plain = isTrigger ? readPlainHeaders(request) : undefined
    const takeGeneralWay = () => general.call(server, request, response)
    if (plain === undefined || !parts.connections.begin(request.socket, response)) takeGeneralWay()
    else new PlainTrigger(parts, request, response, plain, takeGeneralWay).admit()
  })
}

class PlainTrigger {
  readonly #parts: PlainTriggerParts
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #plain: PlainHeaders
  readonly #takeGeneralWay: () => void
  readonly #begun = performance.now()
  readonly #at: number
  #requestId = ''
  #caller: Caller | undefined

  constructor(
    parts: PlainTriggerParts,
    request: IncomingMessage,
    response: ServerResponse,
    plain: PlainHeaders,
    takeGeneralWay: () => void,
  ) {
    this.#parts = parts
    this.#request = request
    this.#response = response
    this.#plain = plain
    this.#takeGeneralWay = takeGeneralWay
    this.#at = parts.deps.now()
  }

  /**
   * Who is recalled is not looked up: the transaction that writes compares its key. Before anything but a run is answered
   * it is looked up, so that a key that is void is refused first.
   */
  admit(): void {
    const { store, secrets } = this.#parts.deps
    const recalled = recallCaller(store, this.#plain.apiKey, this.#at, secrets)
    if (recalled) {
      this.#begin(recalled)
      return
    }
    try {
      const caller = this.#identify()
      if (caller instanceof Promise) caller.then((found) => this.#begin(found), this.#takeGeneralWay)
      else this.#begin(caller)
    } catch {
      this.#takeGeneralWay()
    }
  }

  #identify(): Caller | Promise<Caller> {
    const { store, secrets } = this.#parts.deps
    return identifyCaller(store, this.#plain.apiKey, this.#at, secrets)
  }

  #begin(caller: Caller): void {
    const { limits } = this.#parts.deps
    const { keyId, ownerId, scopes } = caller
    const isRefused =
      !scopes.includes('TRIGGER') || limits.isOver('key', keyId) || limits.isOver('owner', ownerId)
    if (isRefused) {
      this.#takeGeneralWay()
      return
    }
    limits.take('key', keyId)
    limits.take('owner', ownerId)
    this.#take(caller)
    this.#requestId = this.#parts.nextRequestId()
    this.#readBody(caller)
  }

  #take(caller: Caller): void {
    this.#caller = caller
    if (caller.keyAsOf === undefined) this.#noteUse(caller)
  }

  #noteUse({ keyId }: Caller): void {
    this.#parts.deps.keyUse.note(keyId, this.#at)
  }

  #readBody(caller: Caller): void {
    const request = this.#request
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [first] = chunks
      const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks)
      this.#trigger(this.#caller ?? caller, bytes).catch((error: unknown) => this.#fail(error))
    })
    request.on('error', () => this.#tell(new ApiError('J-907').status, undefined, 'J-907'))
    // Nobody whose key is void is waited for.
    if (caller.keyAsOf !== undefined) setImmediate(() => request.complete || this.#lookUpMeanwhile())
  }

  async #lookUpMeanwhile(): Promise<void> {
    try {
      this.#take(await this.#identify())
    } catch (failure) {
      if (this.#request.complete || !(failure instanceof ApiError)) return
      for (const event of ['data', 'end', 'error']) this.#request.removeAllListeners(event)
      this.#takeGeneralWay()
    }
  }

  async #trigger(caller: Caller, bytes: Buffer): Promise<void> {
    const { deps, checkBody } = this.#parts
    let run: LaunchedRun
    try {
      const body = parseBody(bytes)
      checkBody(body)
      run = await triggerJob(deps, caller, body as TriggerRequest)
    } catch (error) {
      if (caller.keyAsOf === undefined) this.#refuse(error)
      else await this.#lookUpAndRefuse(error, bytes)
      return
    }
    if (caller.keyAsOf !== undefined) this.#noteUse(caller)
    await turnToAnswer(run.devices.length)
    this.#answer(run)
  }

  async #lookUpAndRefuse(error: unknown, bytes: Buffer): Promise<void> {
    let caller: Caller
    try {
      caller = await this.#identify()
    } catch (failure) {
      // It is refused before its body would be read.
      if (failure instanceof ApiError) this.#takeGeneralWay()
      else this.#refuse(error instanceof ApiError || error instanceof KeyChanged ? failure : error)
      return
    }
    this.#take(caller)
    if (error instanceof KeyChanged) await this.#trigger(caller, bytes)
    else this.#refuse(error)
  }

  #answer(run: LaunchedRun): void {
    const json = triggeredJson(run)
    this.#send(201, ['location', `/job/api/runs/${run.runId}`], json)
    this.#tell(201, run.runId)
  }

  #refuse(cause: unknown): void {
    const error = answerTo(cause)
    this.#parts.tellFailure(error, cause, this.#requestId, triggerPath)
    this.#send(error.status, Object.entries(retryHeaders(error)).flat(), JSON.stringify(errorBody(error)))
    this.#tell(error.status, undefined, error.code)
  }

  /** It could not be answered: nothing is left to say on this connection. */
  #fail(error: unknown): void {
    this.#parts.tellFailure(new ApiError('J-900'), error, this.#requestId, triggerPath)
    this.#response.destroy()
  }

  #send(status: number, headers: string[], json: string | Buffer): void {
    const { headers: fixed, connections } = this.#parts
    const own = ['x-request-id', this.#requestId, 'content-length', String(Buffer.byteLength(json))]
    const closing = connections.isLast(this.#response) ? ['connection', 'close'] : []
    this.#response.writeHead(status, [...headers, ...fixed, ...own, ...closing])
    this.#response.end(json)
  }

  #tell(status: number, runId?: number, code?: ApiError['code']): void {
    this.#parts.deps.tell({
      kind: 'request-answered',
      requestId: this.#requestId,
      method: 'POST',
      route: triggerPath,
      status,
      ms: performance.now() - this.#begun,
      keyId: this.#caller?.keyId,
      ownerId: this.#caller?.ownerId,
      runId,
      triedKeyId: undefined,
      code,
      address: this.#request.socket.remoteAddress ?? '',
      userAgent: shownUserAgent(this.#plain.userAgent),
    })
  }
}
