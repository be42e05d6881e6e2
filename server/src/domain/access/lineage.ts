// Who acts, for the four-eyes rule. Keys that were created from one another count as one: the holder of one could have created
// the others. Only the operator and ADMIN keys create keys for others. A person never does: all keys that descend from a
// person's sessions count as that person, also through an ADMIN key.

import type { Store } from '../common/ports/store.ts'
import { isPerson, keyIdOf, operator } from './principal.ts'

/** The first of its line: equal for all keys of the line and their sessions, and for all keys that a person has created. */
export async function lineageOf(store: Pick<Store, 'findApiKey'>, principal: string): Promise<string> {
  const seen = new Set<string>()
  let first = principal
  let isOfOthers = false
  for (let at = principal; ; ) {
    if (isPerson(at)) return at
    if (!isOfOthers) first = at
    seen.add(at)
    const createdBy = (await findKey(store, at))?.createdBy ?? operator
    if (createdBy === operator || seen.has(createdBy)) return first
    // A key created by an ADMIN key starts a new line, unless a person turns out to have created both.
    isOfOthers ||= (await findKey(store, createdBy))?.scopes.includes('ADMIN') ?? false
    at = createdBy
  }
}

function findKey(store: Pick<Store, 'findApiKey'>, principal: string) {
  const keyId = keyIdOf(principal)
  return keyId === undefined ? undefined : store.findApiKey({ keyId })
}
