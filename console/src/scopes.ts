// What the key of this session may do. What it may not is not offered.

import { shownSelf } from './api/self.ts'

export type Scope = 'TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN'

/** `isRestricted`: to jobs or devices. What is about the owner as a whole is refused then (J-814), and each refusal is audited. */
export function useScopes(): { can: (scope: Scope) => boolean; isRestricted: boolean } {
  const { scopes = [], jobs = null, where = null } = shownSelf.value ?? {}
  return { can: (scope) => scopes.includes(scope), isRestricted: jobs !== null || where !== null }
}
