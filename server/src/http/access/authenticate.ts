// API key -> caller, before the body is read: J-802, J-803, J-804 in this order. Without a key, a browser session acts
// for the key it was created with. Then the rates of the caller, or of the address where there is none (J-911).
//
// This folder is who may send a request; the rules are in domain/access/. Read next, all about browsers:
// session-cookie.ts, how they hold a session; same-origin.ts and cors.ts, which pages may do what; security-headers.ts,
// what they may do with an answer.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import { requireScope } from '../../domain/access/access.ts'
import { type Caller, identifyCaller, KeyChanged } from '../../domain/access/caller.ts'
import type { SecretCheck } from '../../domain/access/ports/secret-check.ts'
import { type IdentifySessionDeps, identifySession } from '../../domain/access/session.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { addressGroup } from '../../limits/address-group.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import type { KeyUse } from '../../state/key-use.ts'
import type { SessionUse } from '../../state/session-use.ts'
import type { App } from '../app-type.ts'
import { refuseConfined } from './confine-callers.ts'
import { recallCaller, refuseSlowBody } from './recalled-caller.ts'
import { requireSameOrigin } from './same-origin.ts'
import { sessionOf } from './session-cookie.ts'

export type IdentifyDeps = IdentifySessionDeps & {
  now: () => number
  secrets?: SecretCheck
  publicUrl: string | undefined
}
export type AuthenticateDeps = IdentifyDeps & {
  store: Pick<Store, 'cachedApiKey'>
  keyUse: KeyUse
  sessionUse: SessionUse
  limits: RateLimits
}

const mcpUrl = '/mcp'

export function authenticateCallers(app: App, deps: AuthenticateDeps): void {
  const { limits } = deps
  app.decorateRequest('caller', null)
  app.decorateRequest('runId', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const admit = (caller: Caller) => {
      request.caller = { ...caller, from: { address: request.ip, requestId: request.id } }
      limitRate(limits, 'key', caller.keyId)
      limitRate(limits, 'owner', caller.ownerId)
      const { scopes, alsoScope } = request.route
      if (scopes) requireScope(caller, ...scopes)
      if (alsoScope) requireScope(caller, alsoScope)
      if (caller.restriction !== undefined) refuseConfined(request, caller)
    }
    const refuse = (failure: unknown) => done(failure as Error)
    try {
      if (needsKey(request)) {
        const caller = recallCaller(deps, request) ?? identify(deps, request)
        // An await would cost every request, also where the caller is known at once.
        if (caller instanceof Promise) {
          caller.then(admit).then(() => done(), refuse)
          return
        }
        admit(caller)
        if (caller.keyAsOf !== undefined) refuseSlowBody(() => lookUpCaller(deps, request), request, reply)
      }
      // Device routes have a sign-in of their own.
      else if (!isDeviceRoute(request)) limitRate(limits, 'address', addressGroup(request.ip))
    } catch (failure) {
      refuse(failure)
      return
    }
    done()
  })
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new ApiError('J-802')
  return request.caller
}

/** Of a route that compares keys: does the work as its caller, once more if the recalled key was another by then. */
export async function asCaller<T>(
  deps: AuthenticateDeps,
  request: FastifyRequest,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  const caller = callerOf(request)
  if (caller.keyAsOf === undefined) return work(caller)
  try {
    const value = await work(caller)
    deps.keyUse.note(caller.keyId, deps.now())
    return value
  } catch (error) {
    // The others are answered after the key was looked up, too (error-reply.ts).
    if (!(error instanceof KeyChanged)) throw error
    await lookUpCaller(deps, request)
    return work(callerOf(request))
  }
}

/**
 * For what a failed sign-in is answered with: J-911 if the address fails too often. Valid credentials are never refused
 * for what others behind the same address do.
 */
export function limitFailedSignIns(limits: RateLimits, request: FastifyRequest, failure: unknown): unknown {
  const isFailure = failure instanceof ApiError && failure.status === 403 && failure.code !== 'J-809'
  if (!isFailure) return failure
  const rateLimit = limits.take('sign-in', addressGroup(request.ip))
  return rateLimit ? new ApiError('J-911', { rateLimit }) : failure
}

/**
 * For sessions and tickets, each of which is written: J-911 if the key makes too many, or the keys of its owner from one
 * address do. Other owners behind the address are not counted with them.
 */
export function limitSessions(limits: RateLimits, request: FastifyRequest, caller: Caller): void {
  const { keyId, ownerId } = caller
  for (const who of [keyId, `${ownerId} ${addressGroup(request.ip)}`]) limitRate(limits, 'session', who)
}

/** Whose key or session the request shows. */
export function identifyRequest(deps: IdentifyDeps, request: FastifyRequest): Caller | Promise<Caller> {
  const { store, now, secrets, publicUrl } = deps
  const apiKey = shownKey(request)
  // Whoever exchanged a token has no cookies, and sends what it got as a key.
  if (apiKey?.startsWith('jx_')) return identifySession(deps, apiKey, now(), request.ip, 'exchange')
  const session = apiKey === undefined ? sessionOf(request, publicUrl) : undefined
  if (session === undefined) return identifyCaller(store, apiKey, now(), request.ip, secrets)
  return identifySession(deps, session, now(), request.ip)
}

/** Assistants may show theirs as `Authorization: Bearer`, which is all that some of them can send. */
export function shownKey({ headers, route }: FastifyRequest): string | undefined {
  // A repeated header arrives as one comma-separated value, which is never a valid key.
  const apiKey = headers['x-api-key'] as string | undefined
  if (apiKey !== undefined || route.url !== mcpUrl) return apiKey
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Of one that was recalled. A key that is void is refused, and then nobody has called. */
export async function lookUpCaller(deps: AuthenticateDeps, request: FastifyRequest): Promise<void> {
  try {
    const caller = await identify(deps, request)
    request.caller = { ...caller, from: { address: request.ip, requestId: request.id } }
  } catch (failure) {
    if (failure instanceof ApiError) request.caller = null
    throw failure
  }
}

function identify(deps: AuthenticateDeps, request: FastifyRequest): Caller | Promise<Caller> {
  const at = deps.now()
  const note = (caller: Caller) => {
    deps.keyUse.note(caller.keyId, at)
    if (caller.sessionId !== undefined) deps.sessionUse.note(caller.sessionId, at)
    return caller
  }
  const refuse = (failure: unknown) => {
    throw limitFailedSignIns(deps.limits, request, failure)
  }
  if (shownKey(request) === undefined && sessionOf(request, deps.publicUrl) !== undefined)
    requireSameOrigin(request)
  try {
    const caller = identifyRequest(deps, request)
    return caller instanceof Promise ? caller.then(note, refuse) : note(caller)
  } catch (failure) {
    return refuse(failure)
  }
}

function limitRate(limits: RateLimits, name: 'address' | 'key' | 'owner' | 'session', who: string): void {
  const rateLimit = limits.take(name, who)
  if (rateLimit) throw new ApiError('J-911', { rateLimit })
}

function isDeviceRoute({ route }: FastifyRequest): boolean {
  const { url = '' } = route
  return url.startsWith('/things/') || url.startsWith('/:tenant/controller/v1/')
}

/** Everything under /job/api, known or not: without a key nobody learns which routes exist. */
function needsKey(request: FastifyRequest): boolean {
  if (!request.is404) {
    if (request.route.isOpen) return false
    return request.route.url === mcpUrl || (request.route.url?.startsWith('/job/api/') ?? true)
  }
  return /^[/\\]+job[/\\]+api(?:[/\\?#]|$)/i.test(request.raw.url ?? '')
}
