// Which events a caller may see. Events about access (keys, sessions, enrollments, webhooks, owners) require more scopes.

import { ApiError, type EventNoun, eventMap, eventNouns, nounOf, type Scope } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { isConfined, isConfinedToDevices, isConfinedToJobs } from '../access/restriction.ts'

/** For callers restricted to jobs: events of their jobs, and events that do not belong to a job. */
const jobNouns: readonly EventNoun[] = ['run', 'execution', 'job', 'schedule', 'device', 'group', 'fleet']
/** For callers restricted to devices (events-in-reach.ts). */
const deviceNouns: readonly EventNoun[] = ['run', 'execution', 'job', 'device', 'fleet']

/**
 * The nouns whose events need a scope that the caller does not have, or that confined callers must not see. ADMIN includes
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

/** Sent to a webhook only if its `eventTypes` name them; a webhook without types does not get them. */
export const accessNouns = hiddenNounsOf({ scopes: ['READ'] })

/** Refuses (J-804, J-814) types or patterns of nouns that the caller may not see. */
export function requireVisible(caller: Caller, types: readonly string[]): void {
  const hidden = hiddenNounsOf(caller)
  const noun = types.map(nounOf).find((each) => hidden.includes(each))
  if (noun === undefined) return
  if (isConfined(caller)) throw new ApiError('J-814')
  throw new ApiError('J-804', { suffix: eventMap[noun].scope })
}
