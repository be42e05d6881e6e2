// Access: who may do what. Callers authenticate with an API key, or in a browser with a session that refers to a key; a
// key belongs to an owner, sees nothing of other owners, and has scopes. Devices authenticate with a token or a
// certificate and act only for themselves. Quotas limit what one owner can store.
//
// Read next: caller.ts, from a key to the caller of a request; api-key.ts, issuing and revoking keys; session.ts,
// sign-in of browsers; sign-in.ts, sign-in of devices; secret-text.ts, what keys and tokens look like; principal.ts,
// how events name who acted; quotas.ts and within-quota.ts.

import type { Scope } from '@jobcast/contract'
import { ApiError } from '@jobcast/contract/words'
import type { Store } from '../common/ports/store.ts'
import type { StoredApiKey } from './ports/api-keys.ts'

/** One of the scopes is enough; the error names the first. */
export function requireScope(
  caller: { readonly scopes: readonly Scope[] },
  ...anyOf: [Scope, ...Scope[]]
): void {
  if (!anyOf.some((scope) => caller.scopes.includes(scope))) {
    throw new ApiError('J-804', { suffix: anyOf[0] })
  }
}

/** Undefined while the key is valid. */
export function keyErrorOf(
  { revokedAt, expiresAt }: Pick<StoredApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'J-802' | 'J-803' | undefined {
  if (revokedAt !== null) return 'J-802'
  return expiresAt !== null && expiresAt <= now ? 'J-803' : undefined
}

export async function isActiveKey(
  store: Pick<Store, 'findApiKey'>,
  keyId: string,
  now: number,
): Promise<boolean> {
  const key = await store.findApiKey({ keyId })
  return key !== undefined && keyErrorOf(key, now) === undefined
}
