// A trigger does not look its key up: the transaction that writes compares it with what is remembered (cachedCaller). That
// is one of two round trips of a trigger on PostgreSQL (npm run bench:postgres, 1 caller); the embedded store has its keys
// in memory. Anything but a run is answered only after the key was looked up, so that one that is void is refused first.

import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, cachedCaller } from '../../domain/access/caller.ts'
import type { SecretCheck } from '../../domain/access/ports/secret-check.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'

type RecallDeps = {
  store: Pick<Store, 'cachedApiKey'>
  secrets?: SecretCheck
  now: () => number
  limits: RateLimits
}

/** Undefined: the key has to be looked up, because it is not remembered or the call is refused. */
export function recallCaller(deps: RecallDeps, { route, headers, ip }: FastifyRequest): Caller | undefined {
  const { 'x-api-key': apiKey } = headers
  if (!route.comparesKey || typeof apiKey !== 'string') return undefined
  const { store, secrets, now, limits } = deps
  const caller = cachedCaller(store, apiKey, now(), ip, secrets)
  if (caller === undefined) return undefined
  const { keyId, ownerId, scopes } = caller
  const isRefused =
    !route.scopes?.some((scope) => scopes.includes(scope)) ||
    limits.isOver('key', keyId) ||
    limits.isOver('owner', ownerId)
  return isRefused ? undefined : caller
}

/** Nobody whose key is void is waited for: it is looked up while the body is on its way. Most bodies came with the head. */
export function refuseSlowBody(
  lookUp: () => Promise<void>,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): void {
  setImmediate(() => {
    if (raw.complete || raw.destroyed) return
    lookUp().catch((failure: unknown) => {
      if (failure instanceof ApiError && !raw.complete && !reply.sent) reply.send(failure)
    })
  })
}
