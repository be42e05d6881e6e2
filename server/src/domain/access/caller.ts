// The authenticated caller of a request: a valid API key and what it may do.

import type { Scope } from '@jobcast/contract'
import { ApiError } from '@jobcast/contract/words'
import type { Store } from '../common/ports/store.ts'
import { keyErrorOf } from './access.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { Maker } from './ports/makers.ts'
import type { SecretCheck } from './ports/secret-check.ts'
import { principalOf } from './principal.ts'
import { isFrom, isSameRestriction, isUnderstood, type Restriction } from './restriction.ts'
import { secretCheck } from './secret-check.ts'

export type Caller = {
  readonly keyId: string
  readonly ownerNo: number
  readonly ownerId: string
  readonly scopes: readonly Scope[]
  /** What the caller can see; undefined: everything of its owner. */
  readonly restriction?: Restriction
  /** The name of the key. */
  readonly keyName?: string
  /** Where the request came from. */
  readonly from?: { readonly address: string; readonly requestId: string }
  /** The session it authenticated by, if not by the key itself. */
  readonly sessionId?: string
  /** Set if the key comes from the cache: only code that verifies it in its write may write or answer. */
  readonly keyAsOf?: string
}

/** The cached key of the caller has changed: nothing was done. */
export class KeyChanged extends Error {}

/**
 * J-802 before J-803: a key that is both revoked and expired is invalid. No validity is cached between requests (but see
 * `cachedCaller`), so a revocation or an expiry takes effect with the next request. Synchronous if the store has the key in
 * memory, because a promise would delay every request. `address`: where the request came from.
 */
export function identifyCaller(
  store: Pick<Store, 'findApiKey'>,
  apiKey: string | undefined,
  now: number,
  address?: string,
  secrets: SecretCheck = secretCheck,
): Caller | Promise<Caller> {
  const keyId = apiKey === undefined ? undefined : secrets.idOf('jc', apiKey)
  if (apiKey === undefined || keyId === undefined) throw new ApiError('J-802')
  const found = store.findApiKey({ keyId })
  const callerWith = (stored: StoredApiKey | undefined) => {
    const matches = secrets.matches(apiKey, stored?.secretHash)
    if (!matches || stored === undefined) throw new ApiError('J-802')
    return callerBy(stored, now, address)
  }
  return found instanceof Promise ? found.then(callerWith) : callerWith(found)
}

/** The caller of a cached key, synchronously. Undefined: use `identifyCaller`; the key may be invalid. */
export function cachedCaller(
  store: Pick<Store, 'cachedApiKey'>,
  apiKey: string,
  now: number,
  address: string | undefined,
  secrets: SecretCheck = secretCheck,
): Caller | undefined {
  const keyId = secrets.idOf('jc', apiKey)
  const cached = keyId === undefined ? undefined : store.cachedApiKey({ keyId })
  if (cached === undefined) return undefined
  const { key, asOf } = cached
  const isValid =
    secrets.matches(apiKey, key.secretHash) && keyErrorOf(key, now) === undefined && mayBeUsed(key, address)
  return isValid ? { ...callerBy(key, now, address), keyAsOf: asOf } : undefined
}

/** For a caller that authenticated by a session or ticket instead of the key itself. */
export async function callerOfKey(
  store: Pick<Store, 'findApiKey'>,
  keyId: string,
  now: number,
  address: string | undefined,
): Promise<Caller> {
  const stored = await store.findApiKey({ keyId })
  if (stored === undefined) throw new ApiError('J-802')
  return callerBy(stored, now, address)
}

function mayBeUsed(key: StoredApiKey, address: string | undefined): boolean {
  return isUnderstood(key) && isFrom(key, address)
}

/** J-802 from other addresses takes precedence over all other errors. */
function callerBy(key: StoredApiKey, now: number, address: string | undefined): Caller {
  if (!mayBeUsed(key, address)) throw new ApiError('J-802')
  const error = keyErrorOf(key, now)
  if (error) throw new ApiError(error)
  const { keyId, keyName, ownerNo, ownerId, scopes, restriction } = key
  const caller = { keyId, keyName, ownerNo, ownerId, scopes }
  return restriction === null ? caller : { ...caller, restriction }
}

/** Roles and restrictions of a person or a program may change while a request is held. */
export function hasSameRights(one: Caller, other: Caller): boolean {
  if (one.scopes !== other.scopes && one.scopes.join() !== other.scopes.join()) return false
  return isSameRestriction(one.restriction ?? null, other.restriction ?? null)
}

export function makerOf(caller: Caller): Maker {
  return { createdBy: principalOf(caller), createdBySession: caller.sessionId ?? null }
}

/** How the history of an execution names the caller. */
export function actorOf({ keyId }: Pick<Caller, 'keyId'>): string {
  return `key ${keyId}`
}
