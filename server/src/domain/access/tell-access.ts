// A log line for each change of who has access: the same changes that become events, with ids and never secrets.

import type { AccessNoun, EventTypeOf } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import { principalOf } from './principal.ts'

export type AccessChanged = {
  kind: 'access-changed'
  type: EventTypeOf<AccessNoun>
  principal: string
  /** What was changed: ids and names. */
  subject: Readonly<Record<string, string>>
}

export type TellAccessDeps = { tell: (change: AccessChanged) => void }

export function tellAccess(
  { tell }: TellAccessDeps,
  type: EventTypeOf<AccessNoun>,
  by: Pick<Caller, 'keyId'>,
  subject: AccessChanged['subject'],
): void {
  tell({ kind: 'access-changed', type, principal: principalOf(by), subject })
}
