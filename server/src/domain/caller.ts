// Who is calling: an API key that was judged good for this request.

import { ApiError, type Scope } from '@jobcast/contract'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { Store } from './ports/store.ts'
import { secretId, secretMatches } from './secret-text.ts'

export type Caller = {
  readonly keyId: string
  readonly ownerNo: number
  readonly ownerId: string
  readonly scopes: readonly Scope[]
}

/**
 * J-802 before J-803: a key that is revoked and expired is invalid. Nothing is remembered between
 * requests, so a revocation or an expiry holds from the next request on.
 */
export async function identifyCaller(
  store: Pick<Store, 'findApiKey'>,
  apiKey: string | undefined,
  now: number,
): Promise<Caller> {
  const keyId = apiKey === undefined ? undefined : secretId('jc', apiKey)
  if (apiKey === undefined || keyId === undefined) throw new ApiError('J-802')
  const found = store.findApiKey({ keyId })
  // A store that has the key in memory answers at once; each wait would cost every request one turn more.
  const stored = found instanceof Promise ? await found : found
  const matches = secretMatches(apiKey, stored?.secretHash)
  if (!matches || stored === undefined) throw new ApiError('J-802')
  return callerBy(stored, now)
}

/** Of somebody who has shown another proof than the key itself. */
export async function callerOfKey(
  store: Pick<Store, 'findApiKey'>,
  keyId: string,
  now: number,
): Promise<Caller> {
  const stored = await store.findApiKey({ keyId })
  if (stored === undefined) throw new ApiError('J-802')
  return callerBy(stored, now)
}

function callerBy(key: StoredApiKey, now: number): Caller {
  const trouble = troubleOf(key, now)
  if (trouble) throw new ApiError(trouble)
  return { keyId: key.keyId, ownerNo: key.ownerNo, ownerId: key.ownerId, scopes: key.scopes }
}

/** Why a key is good no longer; undefined while it is. */
export function troubleOf(
  { revokedAt, expiresAt }: Pick<StoredApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'J-802' | 'J-803' | undefined {
  if (revokedAt !== null) return 'J-802'
  return expiresAt !== null && expiresAt <= now ? 'J-803' : undefined
}

/** One of the scopes is enough; the error names the first. */
export function requireScope(caller: Caller, ...anyOf: [Scope, ...Scope[]]): void {
  if (!anyOf.some((scope) => caller.scopes.includes(scope))) {
    throw new ApiError('J-804', { suffix: anyOf[0] })
  }
}

/** How the history of an execution names whoever made a step. */
export function actorOf({ keyId }: Caller): string {
  return `key ${keyId}`
}
