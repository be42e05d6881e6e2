// The audit log: who changed what, and from where. An entry is written in the transaction of its change, like events; once a
// second the new entries of each owner are sealed in the background. Devices and the service itself are not audited: events
// and the history of executions record what they do.
//
// Read next: audit-entry.ts, what an entry contains; mask-audit.ts, what is left out of it; seal-audit.ts, how entries are
// sealed; read-audit.ts, lists and exports. The format and its verification are in contract/src/audit/.

import type { Caller } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import type { Originated } from './ports/entries.ts'

/** Passed to store writes. A caller outside of a request has no address. */
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
