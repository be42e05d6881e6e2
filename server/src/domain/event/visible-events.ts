// Which events a caller may see. Those about access (keys, sessions, enrollments, webhooks, owners) are not for every key.

import { type AccessKind, ApiError, accessKinds, kindOf } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'

/** Which kinds of events the caller may not see: those about access need MANAGE or ADMIN, those about owners ADMIN. */
export function hiddenKindsOf({ scopes }: Pick<Caller, 'scopes'>): readonly AccessKind[] {
  if (scopes.includes('ADMIN')) return []
  return scopes.includes('MANAGE') ? ['owner'] : accessKinds
}

/** Refuses (J-804) types or patterns of kinds that the caller may not see. */
export function requireVisible(caller: Caller, types: readonly string[]): void {
  const hidden = hiddenKindsOf(caller)
  for (const type of types) {
    const kind = kindOf(type)
    if (!(hidden as readonly string[]).includes(kind)) continue
    throw new ApiError('J-804', { suffix: kind === 'owner' ? 'ADMIN' : 'MANAGE' })
  }
}
