// What the key of this session may do. What it may not is not offered.

import { shownSelf } from './api/self.ts'

export type Scope = 'TRIGGER' | 'READ' | 'MANAGE' | 'APPROVE' | 'AUDIT' | 'ADMIN'

export function useScopes(): { can: (scope: Scope) => boolean } {
  const scopes = shownSelf.value?.scopes ?? []
  return { can: (scope) => scopes.includes(scope) }
}
