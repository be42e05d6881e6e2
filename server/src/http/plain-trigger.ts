// A plain trigger: a key, JSON, and no header beyond those that every client sends. It is the one hot route, and
// Fastify's general way through hooks, parsers and serializers is a third of its CPU time. So it is served here, by the same
// parts in the same order. What is not plain, or is refused before its body is read, takes the general way.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { ApiError, type TriggerRequest } from '@jobcast/contract'
import { type Caller, identifyCaller } from '../domain/caller.ts'
import type { LaunchedRun } from '../domain/ports/triggers.ts'
import { type TriggerDeps, triggerJob } from '../domain/trigger-job.ts'
import type { Tell } from '../observe/events.ts'
import type { AuthenticateDeps } from './authenticate.ts'
import type { Connections } from './connections.ts'
import { answerTo, errorBody, retryHeaders, type TellFailure } from './error-reply.ts'
import { parseBody } from './json-body.ts'
import { readPlainHeaders } from './plain-headers.ts'
import { triggerPath } from './routes/trigger-job.ts'
import { triggeredJson } from './triggered-json.ts'
import { turnToAnswer } from './turns.ts'
import { shownUserAgent } from './user-agent.ts'

export type PlainTriggerParts = {
  deps: TriggerDeps & AuthenticateDeps & { tell: Tell }
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
    else new PlainTrigger(parts, request, response, plain).admit(plain.apiKey, takeGeneralWay)
  })
}

class PlainTrigger {
  readonly #parts: PlainTriggerParts
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #userAgent: string | undefined
  readonly #begun = performance.now()
  #requestId = ''
  #caller: Caller | undefined

  constructor(
    parts: PlainTriggerParts,
    request: IncomingMessage,
    response: ServerResponse,
    { userAgent }: { userAgent: string | undefined },
  ) {
    this.#parts = parts
    this.#request = request
    this.#response = response
    this.#userAgent = userAgent
  }

  admit(apiKey: string, takeGeneralWay: () => void): void {
    const { store, now, secrets, keyUse, limits } = this.#parts.deps
    const at = now()
    const begin = (caller: Caller) => {
      const { keyId, ownerId, scopes } = caller
      const isRefused =
        !scopes.includes('TRIGGER') || limits.isOver('key', keyId) || limits.isOver('owner', ownerId)
      if (isRefused) return takeGeneralWay()
      limits.take('key', keyId)
      limits.take('owner', ownerId)
      keyUse.note(keyId, at)
      this.#caller = caller
      this.#requestId = this.#parts.nextRequestId()
      this.#readBody(caller)
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = identifyCaller(store, apiKey, at, secrets)
    } catch {
      takeGeneralWay()
      return
    }
    if (caller instanceof Promise) caller.then(begin, takeGeneralWay)
    else begin(caller)
  }

  #readBody(caller: Caller): void {
    const request = this.#request
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [first] = chunks
      const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks)
      this.#trigger(caller, bytes).catch((error: unknown) => this.#fail(error))
    })
    request.on('error', () => this.#tell(new ApiError('J-907').status, undefined, 'J-907'))
  }

  async #trigger(caller: Caller, bytes: Buffer): Promise<void> {
    const { deps, checkBody } = this.#parts
    let run: LaunchedRun
    try {
      const body = parseBody(bytes)
      checkBody(body)
      run = await triggerJob(deps, caller, body as TriggerRequest)
    } catch (error) {
      this.#refuse(error)
      return
    }
    await turnToAnswer(run.devices.length)
    this.#answer(run)
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
      userAgent: shownUserAgent(this.#userAgent),
    })
  }
}
