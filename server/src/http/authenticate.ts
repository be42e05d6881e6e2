// API key -> caller, before the body is read: J-802, J-803, J-804 in this order. Without a key, a browser session
// acts for the key it was created with.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import { type Caller, identifyCaller, requireScope } from '../domain/caller.ts'
import { identifySession } from '../domain/session.ts'
import type { Store } from '../domain/store.ts'
import type { KeyUse } from '../state/key-use.ts'
import type { App } from './app-type.ts'
import { requireSameOrigin } from './same-origin.ts'
import { sessionOf } from './session-cookie.ts'

export type AuthenticateDeps = {
  store: Pick<Store, 'findApiKey' | 'findSession'>
  keyUse: KeyUse
  now: () => number
}

export function authenticateCallers(app: App, deps: AuthenticateDeps): void {
  app.decorateRequest('caller', null)
  app.addHook('onRequest', async (request) => {
    if (!needsKey(request)) return
    // A repeated header arrives as one comma-separated value, which is never a valid key.
    const apiKey = request.headers['x-api-key'] as string | undefined
    const now = deps.now()
    const session = apiKey === undefined ? sessionOf(request) : undefined
    if (session !== undefined) requireSameOrigin(request)
    const caller =
      session === undefined
        ? await identifyCaller(deps.store, apiKey, now)
        : await identifySession(deps.store, session, now)
    request.caller = caller
    deps.keyUse.note(caller.keyId, now)
    const { scopes } = request.routeOptions.config
    if (scopes) requireScope(caller, ...scopes)
  })
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new ApiError('J-802')
  return request.caller
}

/** Everything under /job/api, known or not: without a key nobody learns which routes exist. */
function needsKey(request: FastifyRequest): boolean {
  if (!request.is404) {
    if (request.routeOptions.config.isOpen) return false
    return request.routeOptions.url?.startsWith('/job/api/') ?? true
  }
  return /^[/\\]+job[/\\]+api(?:[/\\?#]|$)/i.test(request.raw.url ?? '')
}
