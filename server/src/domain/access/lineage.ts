// Who acts, for four eyes. Keys that were created one from another are one principal, however many there are: whoever
// holds one could have created the others. Only the operator and ADMIN keys hand out keys to others. A person never does: all
// keys that come from a person's sessions are the person, also through an ADMIN key.

import type { Store } from '../common/ports/store.ts'
import { isPerson, keyIdOf, operator } from './principal.ts'

/** The first of its line: equal for all keys of the line, for their sessions, and for what a person has created. */
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
    // Whom an ADMIN key has given a key is somebody else, unless a person turns out to have made both.
    isOfOthers ||= (await findKey(store, createdBy))?.scopes.includes('ADMIN') ?? false
    at = createdBy
  }
}

function findKey(store: Pick<Store, 'findApiKey'>, principal: string) {
  const keyId = keyIdOf(principal)
  return keyId === undefined ? undefined : store.findApiKey({ keyId })
}
