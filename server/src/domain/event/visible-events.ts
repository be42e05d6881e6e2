// Which events a caller may see. Those about access (keys, sessions, enrollments, webhooks, owners) are not for every key.

import { ApiError, type EventNoun, eventMap, eventNouns, nounOf, type Scope } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { isConfined, isConfinedToDevices, isConfinedToJobs } from '../access/restriction.ts'

/** Events that a caller sees that is restricted to jobs: those of its jobs, and what is about all of them alike. */
const jobNouns: readonly EventNoun[] = ['run', 'execution', 'job', 'schedule', 'device', 'group', 'fleet']
/** The same for devices (events-in-reach.ts). */
const deviceNouns: readonly EventNoun[] = ['run', 'execution', 'job', 'device', 'fleet']

/**
 * The nouns whose events need a scope that the caller does not have, or that are not for confined callers. ADMIN includes
 * MANAGE.
 */
export function hiddenNounsOf(caller: Pick<Caller, 'scopes' | 'restriction'>): readonly EventNoun[] {
  const isHidden = (noun: EventNoun) =>
    (isConfinedToJobs(caller) && !jobNouns.includes(noun)) ||
    (isConfinedToDevices(caller) && !deviceNouns.includes(noun))
  if (isConfined(caller)) return eventNouns.filter(isHidden)
  const { scopes } = caller
  if (scopes.includes('ADMIN')) return []
  return eventNouns.filter((noun) => {
    const { scope, orScope }: { scope: Scope; orScope?: Scope } = eventMap[noun]
    if (orScope !== undefined && scopes.includes(orScope)) return false
    return scope === 'ADMIN' || (scope === 'MANAGE' && !scopes.includes('MANAGE'))
  })
}

/** Sent to a webhook only if its `eventTypes` name them: a receiver of all events is not one of these. */
export const accessNouns = hiddenNounsOf({ scopes: ['READ'] })

/** Refuses (J-804, J-814) types or patterns of nouns that the caller may not see. */
export function requireVisible(caller: Caller, types: readonly string[]): void {
  const hidden = hiddenNounsOf(caller)
  const noun = types.map(nounOf).find((each) => hidden.includes(each))
  if (noun === undefined) return
  if (isConfined(caller)) throw new ApiError('J-814')
  throw new ApiError('J-804', { suffix: eventMap[noun].scope })
}
