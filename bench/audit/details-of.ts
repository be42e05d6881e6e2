import { runDetails } from '../../server/src/domain/audit/audit-entry.ts'

const origin = { principal: 'key:3f9aZ0qLxw', name: 'ci', address: '203.0.113.7', requestId: 'req-4f0c2a' }

/** The text of an entry, as a trigger builds it. */
export function detailsOf(hasEntry: boolean): string {
  return hasEntry ? runDetails('restart', 1, origin) : ''
}
