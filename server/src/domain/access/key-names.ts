// Names of keys, shown to people next to principals.

import type { KeyState } from '@jobcast/contract'
import type { Store } from '../common/ports/store.ts'
import { keyErrorOf } from './access.ts'
import { enrollmentIdOf, keyIdAt } from './principal.ts'

type NameStore = Pick<Store, 'findApiKey' | 'findEnrollment'>
type NamedKey = { keyName: string; keyState: KeyState }
/** Names keys, people and enrollments. Undefined: it has no name, or belongs to another owner, whose names are not shown. */
export type KeyNames = (principal: string | null) => NamedKey | undefined

export type NameDeps = { store: NameStore; now: () => number }

/** For responses without principals. */
export const noNames: KeyNames = () => undefined

export function nameOf(keyNames: KeyNames, principal: string | null): string | null {
  return keyNames(principal)?.keyName ?? null
}

export async function readKeyNames(
  store: NameStore,
  ownerNo: number,
  now: number,
  principals: Iterable<string | null>,
): Promise<KeyNames> {
  const named = new Map<string, NamedKey>()
  for (const principal of new Set(principals)) {
    if (principal === null) continue
    const found = await find(store, ownerNo, now, principal)
    if (found !== undefined) named.set(principal, found)
  }
  return (principal) => (principal === null ? undefined : named.get(principal))
}

async function find(
  store: NameStore,
  ownerNo: number,
  now: number,
  principal: string,
): Promise<NamedKey | undefined> {
  const enrollmentId = enrollmentIdOf(principal)
  if (enrollmentId !== undefined) {
    const enrollment = await store.findEnrollment({ enrollmentId })
    if (enrollment?.ownerNo !== ownerNo || enrollment.name === null) return undefined
    return { keyName: enrollment.name, keyState: stateOf(keyErrorOf(enrollment, now)) }
  }
  const keyId = keyIdAt(principal, ownerNo)
  const key = keyId === undefined ? undefined : await store.findApiKey({ keyId })
  if (key?.ownerNo !== ownerNo) return undefined
  return { keyName: key.keyName, keyState: stateOf(keyErrorOf(key, now)) }
}

function stateOf(error: ReturnType<typeof keyErrorOf>): KeyState {
  return error === undefined ? 'ACTIVE' : error === 'J-803' ? 'EXPIRED' : 'REVOKED'
}
