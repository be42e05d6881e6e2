// The audit: who has changed what, from where. An entry is written in the transaction of its change, as events are; once a
// second the new entries of an owner are sealed, off the path of any call. Devices and the service itself are not audited:
// their events and the history of executions have what they do.
//
// Read next: audit-entry.ts, what an entry is made of; mask-audit.ts, what is left out of it; seal-audit.ts, how entries are
// sealed; read-audit.ts, lists and exports. The format and its verification are in contract/src/audit/.

import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import type { Originated } from './ports/entries.ts'

/** For the steps of the store that write. A caller that is not of a request has no address. */
export function originOf(caller: Caller): Originated {
  const { keyName, from } = caller
  return {
    origin: {
      principal: principalOf(caller),
      name: keyName ?? null,
      address: from?.address ?? null,
      requestId: from?.requestId ?? null,
    },
  }
}
