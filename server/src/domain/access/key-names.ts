// Names for people beside principals, which are for programs.

import type { KeyState } from '@jobcast/contract'
import type { Store } from '../common/ports/store.ts'
import { keyErrorOf } from './access.ts'
import { keyIdAt } from './principal.ts'

type NamedKey = { keyName: string; keyState: KeyState }
/** Undefined: it is not a key, or one of another owner (of an administrator), which is not named. */
export type KeyNames = (principal: string | null) => NamedKey | undefined

export type NameDeps = { store: Pick<Store, 'findApiKey'>; now: () => number }

/** For what shows nobody. */
export const noNames: KeyNames = () => undefined

export function nameOf(keyNames: KeyNames, principal: string | null): string | null {
  return keyNames(principal)?.keyName ?? null
}

export async function readKeyNames(
  store: Pick<Store, 'findApiKey'>,
  ownerNo: number,
  now: number,
  principals: Iterable<string | null>,
): Promise<KeyNames> {
  const named = new Map<string, NamedKey>()
  for (const principal of new Set(principals)) {
    const keyId = keyIdAt(principal, ownerNo)
    const key = keyId === undefined ? undefined : await store.findApiKey({ keyId })
    if (principal === null || key?.ownerNo !== ownerNo) continue
    const error = keyErrorOf(key, now)
    const keyState = error === undefined ? 'ACTIVE' : error === 'J-803' ? 'EXPIRED' : 'REVOKED'
    named.set(principal, { keyName: key.keyName, keyState })
  }
  return (principal) => (principal === null ? undefined : named.get(principal))
}
