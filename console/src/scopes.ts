// The scopes of this session's key. Actions that it may not use are not offered.

import { shownSelf } from './api/self.ts'

export type Scope = 'TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN'

type Needs = { scopes: readonly Scope[]; closedTo?: 'restricted' | 'selectors' }

/** `isRestricted`: to jobs or devices. Operations on the whole owner are refused then (J-814), and each refusal is audited. */
export function useScopes() {
  const { scopes = [], jobs = null, where = null } = shownSelf.value ?? {}
  const can = (scope: Scope): boolean => scopes.includes(scope)
  const isRestricted = jobs !== null || where !== null
  const isClosed = ({ closedTo }: Pick<Needs, 'closedTo'>): boolean =>
    closedTo === 'selectors' ? where !== null : closedTo === 'restricted' && isRestricted
  const mayOpen = (route: Needs): boolean => !isClosed(route) && route.scopes.some(can)
  return { can, isRestricted, isClosed, mayOpen }
}
