// Who acts, for four eyes. Keys that were created one from another are one principal, however many there are: whoever
// holds one could have created the others. Only the operator and ADMIN keys hand out keys to others.

import type { Store } from '../common/ports/store.ts'
import { keyIdOf, operator } from './principal.ts'

/** The first of its line: equal for all keys of the line, for their sessions, and for what a person has created. */
export async function lineageOf(store: Pick<Store, 'findApiKey'>, principal: string): Promise<string> {
  const seen = new Set<string>()
  let first = principal
  for (;;) {
    seen.add(first)
    const createdBy = (await findKey(store, first))?.createdBy ?? operator
    if (createdBy === operator || seen.has(createdBy)) return first
    const creator = await findKey(store, createdBy)
    if (creator?.scopes.includes('ADMIN')) return first
    first = createdBy
  }
}

function findKey(store: Pick<Store, 'findApiKey'>, principal: string) {
  const keyId = keyIdOf(principal)
  return keyId === undefined ? undefined : store.findApiKey({ keyId })
}
