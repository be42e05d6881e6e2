// Finds the caller of an API key before the body is read: J-802, J-803, J-804 in this order. Without a key, a browser session
// acts for the key it was created with. Then the rate limits of the caller, or of the address without one (J-911).
//
// This folder decides who may send a request; the rules are in domain/access/. Read next, all about browsers:
// session-cookie.ts, sessions; same-origin.ts and cors.ts, the pages that may send requests; security-headers.ts, headers of
// responses.

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
import { type AssistantSessions, accessTokenOf, mcpUrl } from './assistant-sessions.ts'
import { callerOfCachedKey, refuseSlowBody } from './cached-key.ts'
import { refuseConfined } from './confine-callers.ts'
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
  /** Undefined without an issuer. */
  assistants?: AssistantSessions | undefined
}

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
        const caller = callerOfCachedKey(deps, request) ?? identify(deps, request)
        // No await unless necessary: it would slow down every request, although most callers are found synchronously.
        if (caller instanceof Promise) {
          caller.then(admit).then(() => done(), refuse)
          return
        }
        admit(caller)
        if (caller.keyAsOf !== undefined) refuseSlowBody(() => lookUpCaller(deps, request), request, reply)
      }
      // Device routes authenticate separately.
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

/** For routes that compare keys: runs the work as the caller, and repeats it if the cached key was outdated. */
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
    // For all other errors, error-reply.ts looks the key up first.
    if (!(error instanceof KeyChanged)) throw error
    await lookUpCaller(deps, request)
    return work(callerOf(request))
  }
}

/**
 * The error of a failed sign-in: J-911 if the address fails too often. Valid credentials are never refused because of other
 * clients behind the same address.
 */
export function limitFailedSignIns(limits: RateLimits, request: FastifyRequest, failure: unknown): unknown {
  const isFailure =
    failure instanceof ApiError && [401, 403].includes(failure.status) && failure.code !== 'J-809'
  if (!isFailure) return failure
  const rateLimit = limits.take('sign-in', addressGroup(request.ip))
  return rateLimit ? new ApiError('J-911', { rateLimit }) : failure
}

/**
 * For sessions and tickets, each of which is written to the database: J-911 if the key creates too many, or the keys of its
 * owner from one address do. Other owners behind the address are counted separately.
 */
export function limitSessions(limits: RateLimits, request: FastifyRequest, caller: Caller): void {
  const { keyId, ownerId } = caller
  for (const who of [keyId, `${ownerId} ${addressGroup(request.ip)}`]) limitRate(limits, 'session', who)
}

/** Finds the caller by the key or session of the request. */
export function identifyRequest(deps: IdentifyDeps, request: FastifyRequest): Caller | Promise<Caller> {
  const { store, now, secrets, publicUrl } = deps
  const apiKey = shownKey(request)
  // A session from a token exchange is sent as a key instead of a cookie.
  if (apiKey?.startsWith('jx_')) return identifySession(deps, apiKey, now(), request.ip, 'exchange')
  const session = apiKey === undefined ? sessionOf(request, publicUrl) : undefined
  if (session === undefined) return identifyCaller(store, apiKey, now(), request.ip, secrets)
  return identifySession(deps, session, now(), request.ip)
}

/** Assistants may also send `Authorization: Bearer`, because some of them support nothing else. */
export function shownKey({ headers, route }: FastifyRequest): string | undefined {
  // A repeated header arrives as one comma-separated value, which is never a valid key.
  const apiKey = headers['x-api-key'] as string | undefined
  if (apiKey !== undefined || route.url !== mcpUrl) return apiKey
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Looks up the caller of a cached key. For an invalid key it throws and removes the caller from the request. */
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
    const caller = identifyAssistant(deps, request) ?? identifyRequest(deps, request)
    return caller instanceof Promise ? caller.then(note, refuse) : note(caller)
  } catch (failure) {
    return refuse(failure)
  }
}

/** Undefined: the request has a key or a session, or there is no issuer to sign in at. */
function identifyAssistant(
  { assistants, limits, publicUrl }: AuthenticateDeps,
  request: FastifyRequest,
): Promise<Caller> | undefined {
  if (assistants === undefined || request.route.url !== mcpUrl) return undefined
  const token = accessTokenOf(request)
  if (token !== undefined)
    return assistants.identify(request, token, (caller) => limitSessions(limits, request, caller))
  if (shownKey(request) === undefined && sessionOf(request, publicUrl) === undefined)
    throw assistants.challenge(false)
  return undefined
}

function limitRate(limits: RateLimits, name: 'address' | 'key' | 'owner' | 'session', who: string): void {
  const rateLimit = limits.take(name, who)
  if (rateLimit) throw new ApiError('J-911', { rateLimit })
}

function isDeviceRoute({ route }: FastifyRequest): boolean {
  const { url = '' } = route
  return url.startsWith('/things/') || url.startsWith('/:tenant/controller/v1/')
}

/** Everything under /job/api, including unknown routes, so that callers without a key cannot probe for routes. */
function needsKey(request: FastifyRequest): boolean {
  if (!request.is404) {
    if (request.route.isOpen) return false
    return request.route.url === mcpUrl || (request.route.url?.startsWith('/job/api/') ?? true)
  }
  return /^[/\\]+job[/\\]+api(?:[/\\?#]|$)/i.test(request.raw.url ?? '')
}
