// Callers are identified before the body is read. A body may take hours to arrive, so its caller is identified again.

import type { FastifyRequest } from 'fastify'
import { requireScope } from '../../domain/access/access.ts'
import { type AuthenticateDeps, type IdentifyDeps, identifyRequest } from './authenticate.ts'
import { refuseConfined } from './confine-callers.ts'

export type StillAllowedDeps = IdentifyDeps & Pick<AuthenticateDeps, 'sessionUse'>

/** Throws the error that the same request would get now. Otherwise its session counts as used. */
export async function requireStillAllowed(deps: StillAllowedDeps, request: FastifyRequest): Promise<void> {
  const caller = await identifyRequest(deps, request)
  if (caller.sessionId !== undefined) deps.sessionUse.note(caller.sessionId, deps.now())
  const { scopes } = request.route
  if (scopes) requireScope(caller, ...scopes)
  refuseConfined(request, caller)
}
