// What the key of this session may do. What it may not is not offered.

import { self } from './api/self.ts'

export type Scope = 'TRIGGER' | 'READ' | 'MANAGE' | 'ADMIN'

export function useScopes(): { can: (scope: Scope) => boolean } {
  const scopes = self.value?.scopes ?? []
  return { can: (scope) => scopes.includes(scope) }
}
