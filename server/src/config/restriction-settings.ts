// Restrictions of roles (oidc-roles) and trust rules (oidc-trust), which are the same as for keys.

import { isJobPattern, maxRestrictions } from '@jobcast/contract'
import { keySelectorProblem } from '../domain/access/key-selector.ts'
import { type Restriction, restrictionOf } from '../domain/access/restriction.ts'
import { isAddressRange } from '../domain/webhook/allowed-address.ts'

export const restrictionFields = ['jobs', 'where', 'addresses']

/** Describes the problem; undefined: valid or missing. Invalid restrictions are refused, because ignoring them would grant too much. */
export function restrictionProblem(
  { jobs, where, addresses }: Record<string, unknown>,
  isAdmin: boolean,
): string | undefined {
  if (jobs !== undefined && !isListOf(jobs, isJobPattern))
    return 'jobs must be a list of names of jobs, or beginnings of names with * at the end'
  if (where !== undefined && typeof where !== 'string') return 'where must be a selector such as tag=kiosk'
  const wrong = where === undefined ? undefined : keySelectorProblem(where)
  if (wrong !== undefined) return wrong
  if (addresses !== undefined && !isListOf(addresses, isAddressRange))
    return 'addresses must be a list of addresses or ranges such as 10.0.0.0/8'
  if (isAdmin && jobs !== undefined) return 'the role admin cannot be restricted to jobs'
  return isAdmin && where !== undefined ? 'the role admin cannot be restricted to devices' : undefined
}

/** Only for valid restrictions. */
export function readRestriction(given: Record<string, unknown>): { restriction?: Restriction } {
  const { jobs, where, addresses } = given as Restriction
  const restriction = restrictionOf({ jobs, where, addresses })
  return restriction ? { restriction } : {}
}

function isListOf(value: unknown, isOne: (text: string) => boolean): boolean {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= maxRestrictions
  return isList && value.every((each: unknown) => typeof each === 'string' && isOne(each))
}
