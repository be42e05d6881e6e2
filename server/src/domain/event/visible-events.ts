// Which events a caller may see. Those about access (keys, sessions, enrollments, webhooks, owners) are not for every key.

import { ApiError, type EventNoun, eventMap, eventNouns, nounOf } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'

/** The nouns whose events need a scope that the caller does not have. ADMIN includes MANAGE. */
export function hiddenNounsOf({ scopes }: Pick<Caller, 'scopes'>): readonly EventNoun[] {
  if (scopes.includes('ADMIN')) return []
  return eventNouns.filter((noun) => {
    const { scope } = eventMap[noun]
    return scope === 'ADMIN' || (scope === 'MANAGE' && !scopes.includes('MANAGE'))
  })
}

/** Sent to a webhook only if its `eventTypes` name them: a receiver of all events is not one of these. */
export const accessNouns = hiddenNounsOf({ scopes: ['READ'] })

/** Refuses (J-804) types or patterns of nouns that the caller may not see. */
export function requireVisible(caller: Caller, types: readonly string[]): void {
  const hidden = hiddenNounsOf(caller)
  const noun = types.map(nounOf).find((each) => hidden.includes(each))
  if (noun !== undefined) throw new ApiError('J-804', { suffix: eventMap[noun].scope })
}
