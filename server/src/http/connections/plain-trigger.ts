// A plain trigger: a key, JSON, and no header beyond those that every client sends. It is the one hot route, and the general
// way through Fastify's hooks, parsers and serializers takes twice its CPU time. So it is served here, by the same
// parts in the same order. What is not plain, or is refused before its body is read, takes the general way.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { ApiError, type TriggerRequest } from '@jobcast/contract'
import { type Caller, cachedCaller, identifyCaller, KeyChanged } from '../../domain/access/caller.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { LaunchedRun } from '../../domain/trigger/launched-run.ts'
import { type TriggerDeps, triggerJob } from '../../domain/trigger/trigger-job.ts'
import type { BodyBudget, HeldBody } from '../../limits/body-budget.ts'
import type { Tell } from '../../observe/events.ts'
import type { AuthenticateDeps } from '../access/authenticate.ts'
import { shownUserAgent } from '../access/user-agent.ts'
import { triggerPath } from '../routes/trigger-job.ts'
import { answerTo, errorBody, retryHeaders, type TellFailure } from '../wire/error-reply.ts'
import { parseBody } from '../wire/json-body.ts'
import { triggeredJson } from '../wire/triggered-json.ts'
import type { Connections } from './connections.ts'
import { readPlainHeaders } from './plain-headers.ts'
import { turnToAnswer } from './turns.ts'

export type PlainTriggerParts = {
  deps: TriggerDeps &
    AuthenticateDeps & { store: Pick<Store, 'cachedApiKey'>; tell: Tell; bodies: BodyBudget }
  connections: Connections
  tellFailure: TellFailure
  nextRequestId: () => string
  /** Throws J-500. */
  checkBody: (body: unknown) => void
  /** Of every answer; names and values take turns. */
  headers: readonly string[]
}

export type PlainAnswer = { status: number; own: string[]; requestId: string; json: string | Buffer }

/** Where a plain trigger comes from. */
export type PlainCall = {
  readonly address: string | undefined
  readonly userAgent: string | undefined
  /** `own`: headers that come before those of every answer. */
  send(answer: PlainAnswer): void
  /** It could not be answered: nothing is left to say on this connection. */
  destroy(): void
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
    if (plain === undefined || !parts.connections.begin(request.socket, response)) {
      takeGeneralWay()
      return
    }
    const trigger = new PlainTrigger(parts, new RequestCall(parts, request, response, plain.userAgent))
    const onAdmitted = () => {
      const held = trigger.holdBody(plain.bodyBytes)
      // There it is refused.
      if (held === undefined) takeGeneralWay()
      else readBody(request, trigger, held, takeGeneralWay)
    }
    trigger.admit(plain.apiKey, onAdmitted, takeGeneralWay)
  })
}

function readBody(
  request: IncomingMessage,
  trigger: PlainTrigger,
  held: HeldBody,
  takeGeneralWay: () => void,
): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    held.release()
    const [first] = chunks
    trigger.serve(chunks.length === 1 && first ? first : Buffer.concat(chunks))
  })
  request.on('error', () => trigger.tell(new ApiError('J-907').status, undefined, 'J-907'))
  request.once('close', () => held.release())
  if (!trigger.isRecalled) return
  // Nobody whose key is void is waited for.
  setImmediate(async () => {
    if (request.complete || (await trigger.isValid()) || request.complete) return
    for (const event of ['data', 'end', 'error']) request.removeAllListeners(event)
    held.release()
    takeGeneralWay()
  })
}

/** As Node has parsed it. */
class RequestCall implements PlainCall {
  readonly #parts: PlainTriggerParts
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly userAgent: string | undefined

  constructor(
    parts: PlainTriggerParts,
    request: IncomingMessage,
    response: ServerResponse,
    userAgent: string | undefined,
  ) {
    this.#parts = parts
    this.#request = request
    this.#response = response
    this.userAgent = userAgent
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  send({ status, own, requestId, json }: PlainAnswer): void {
    const { headers, connections } = this.#parts
    const sized = ['x-request-id', requestId, 'content-length', String(Buffer.byteLength(json))]
    const closing = connections.isLast(this.#response) ? ['connection', 'close'] : []
    this.#response.writeHead(status, [...own, ...headers, ...sized, ...closing])
    this.#response.end(json)
  }

  destroy(): void {
    this.#response.destroy()
  }
}

export class PlainTrigger {
  readonly #parts: PlainTriggerParts
  readonly #call: PlainCall
  readonly #begun = performance.now()
  readonly #at: number
  #apiKey = ''
  #takeGeneralWay: () => void = () => undefined
  #requestId = ''
  #caller: Caller | undefined

  constructor(parts: PlainTriggerParts, call: PlainCall) {
    this.#parts = parts
    this.#call = call
    this.#at = parts.deps.now()
  }

  /** The key was not looked up. */
  get isRecalled(): boolean {
    return this.#caller?.keyAsOf !== undefined
  }

  /**
   * Calls one of the two, at once or later. The transaction that writes compares the key of who is recalled; anything but a
   * run is answered only after it was looked up, so that a key that is void is refused first: by the general way as well.
   */
  admit(apiKey: string, onAdmitted: () => void, takeGeneralWay: () => void): void {
    const { store, secrets } = this.#parts.deps
    this.#apiKey = apiKey
    this.#takeGeneralWay = takeGeneralWay
    const recalled = cachedCaller(store, apiKey, this.#at, secrets)
    if (recalled) {
      this.#begin(recalled, onAdmitted)
      return
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = this.#identify()
    } catch {
      takeGeneralWay()
      return
    }
    if (caller instanceof Promise) caller.then((found) => this.#begin(found, onAdmitted), takeGeneralWay)
    else this.#begin(caller, onAdmitted)
  }

  #identify(): Caller | Promise<Caller> {
    const { store, secrets } = this.#parts.deps
    return identifyCaller(store, this.#apiKey, this.#at, secrets)
  }

  #begin(caller: Caller, onAdmitted: () => void): void {
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
    onAdmitted()
  }

  /** Undefined: there is no room for it. It must have been admitted. */
  holdBody(bytes: number): HeldBody | undefined {
    const { keyId, ownerNo } = this.#caller as Caller
    const held = this.#parts.deps.bodies.hold({ key: keyId, owner: String(ownerNo) })
    try {
      held.add(bytes)
      return held
    } catch {
      return undefined
    }
  }

  #take(caller: Caller): void {
    this.#caller = caller
    if (caller.keyAsOf === undefined) this.#noteUse(caller)
  }

  #noteUse({ keyId }: Caller): void {
    this.#parts.deps.keyUse.note(keyId, this.#at)
  }

  /** Looks the key up. True also where that is not known, because the store cannot say. */
  async isValid(): Promise<boolean> {
    try {
      this.#take(await this.#identify())
      return true
    } catch (failure) {
      return !(failure instanceof ApiError)
    }
  }

  /** It must have been admitted. */
  serve(body: Buffer): void {
    this.#trigger(body).catch((error: unknown) => this.#fail(error))
  }

  async #trigger(bytes: Buffer): Promise<void> {
    const { deps, checkBody } = this.#parts
    const caller = this.#caller as Caller
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
    const turn = turnToAnswer(run.devices.length)
    if (turn) await turn
    this.#send(201, ['location', `/job/api/runs/${run.runId}`], triggeredJson(run))
    this.tell(201, run.runId)
  }

  async #lookUpAndRefuse(error: unknown, bytes: Buffer): Promise<void> {
    try {
      this.#take(await this.#identify())
    } catch (failure) {
      // There it is refused before its body would be read.
      if (failure instanceof ApiError) this.#takeGeneralWay()
      else this.#refuse(error instanceof ApiError || error instanceof KeyChanged ? failure : error)
      return
    }
    if (error instanceof KeyChanged) await this.#trigger(bytes)
    else this.#refuse(error)
  }

  #refuse(cause: unknown): void {
    const error = answerTo(cause)
    this.#parts.tellFailure(error, cause, this.#requestId, triggerPath)
    this.#send(error.status, Object.entries(retryHeaders(error)).flat(), JSON.stringify(errorBody(error)))
    this.tell(error.status, undefined, error.code)
  }

  #fail(error: unknown): void {
    this.#parts.tellFailure(new ApiError('J-900'), error, this.#requestId, triggerPath)
    this.#call.destroy()
  }

  #send(status: number, own: string[], json: string | Buffer): void {
    this.#call.send({ status, own, requestId: this.#requestId, json })
  }

  tell(status: number, runId?: number, code?: ApiError['code']): void {
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
      address: this.#call.address ?? '',
      userAgent: shownUserAgent(this.#call.userAgent),
    })
  }
}
