// A trigger does not look its key up: the writing transaction compares the cached key (cachedCaller) with the stored one. That
// saves one of two round trips of a trigger on PostgreSQL (npm run bench:postgres, 1 caller); the embedded store has its keys
// in memory. All other responses wait for a lookup of the key, so that an invalid key is refused first.

import { ApiError } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, cachedCaller } from '../../domain/access/caller.ts'
import type { SecretCheck } from '../../domain/access/ports/secret-check.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'

type CachedKeyDeps = {
  store: Pick<Store, 'cachedApiKey'>
  secrets?: SecretCheck
  now: () => number
  limits: RateLimits
}

/** Undefined: the key must be looked up, because it is not cached or the call will be refused. */
export function callerOfCachedKey(
  deps: CachedKeyDeps,
  { route, headers, ip }: FastifyRequest,
): Caller | undefined {
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

/** Looks the key up while a slow body arrives, so that an invalid key is refused at once. Most bodies arrive with the head. */
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
