// The authenticated caller of a request: a valid API key and what it may do.

import { ApiError, type Scope } from '@jobcast/contract'
import type { Store } from '../common/ports/store.ts'
import { keyErrorOf } from './access.ts'
import type { StoredApiKey } from './ports/api-keys.ts'
import type { Maker } from './ports/makers.ts'
import type { SecretCheck } from './ports/secret-check.ts'
import { principalOf } from './principal.ts'
import { isFrom, isSameRestriction, type Restriction } from './restriction.ts'
import { secretCheck } from './secret-check.ts'

export type Caller = {
  readonly keyId: string
  readonly ownerNo: number
  readonly ownerId: string
  readonly scopes: readonly Scope[]
  /** What exists for it; without it, all that its owner has. */
  readonly restriction?: Restriction
  /** As people have named the key. */
  readonly keyName?: string
  /** Of a request: where it came from. */
  readonly from?: { readonly address: string; readonly requestId: string }
  /** The session it authenticated by, if not by the key itself. */
  readonly sessionId?: string
  /** Its key was recalled: before it is known to be valid, nothing may be written or answered but by who compares it. */
  readonly keyAsOf?: string
}

/** The key of a caller that was recalled is not any more what it was: nothing was done. */
export class KeyChanged extends Error {}

/**
 * J-802 before J-803: a key that is both revoked and expired is invalid. No validity is cached between requests (but see
 * `cachedCaller`), so a revocation or an expiry takes effect with the next request. At once where the store has the key in
 * memory: a promise would delay every request. `address`: where the request came from.
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

/** At once, of a key that is remembered. Undefined: it has to be identified, and may not be valid. */
export function cachedCaller(
  store: Pick<Store, 'cachedApiKey'>,
  apiKey: string,
  now: number,
  address: string | undefined,
  secrets: SecretCheck = secretCheck,
): Caller | undefined {
  const keyId = secrets.idOf('jc', apiKey)
  const recalled = keyId === undefined ? undefined : store.cachedApiKey({ keyId })
  if (recalled === undefined) return undefined
  const { key, asOf } = recalled
  const isValid =
    secrets.matches(apiKey, key.secretHash) && keyErrorOf(key, now) === undefined && isFrom(key, address)
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

/** From another address the key is invalid, whatever else it is. */
function callerBy(key: StoredApiKey, now: number, address: string | undefined): Caller {
  if (!isFrom(key, address)) throw new ApiError('J-802')
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
