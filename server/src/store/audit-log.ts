// The audit entries of a transaction, created with its events: the same changes, and the caller.

import type { EventTypeOf } from '@jobcast/contract/words'
import { entryOfEvent, newEntry } from '../domain/audit/audit-entry.ts'
import type { NewAuditEntry, Origin, Originated, OwnChange } from '../domain/audit/ports/entries.ts'
import type { RolloutEventType } from '../domain/rollout/rollout.ts'
import type { DeviceChange, ResourceChange, ResourceEventType, RunChanged } from './queries.ts'

/** The origin in the input of a step, set by `originOf`. */
export function originIn(input: unknown): Origin | undefined {
  return typeof input === 'object' && input !== null ? (input as Originated).origin : undefined
}

export class AuditLog {
  readonly #write: (entry: NewAuditEntry) => void
  /** The origin of the current step. */
  origin: Origin | undefined

  constructor(write: (entry: NewAuditEntry) => void) {
    this.#write = write
  }

  resourceChanged<Type extends ResourceEventType>(type: Type, change: ResourceChange<Type>): void {
    const entry = entryOfEvent(change, type, change.data as Record<string, unknown>, change, this.origin)
    if (entry) this.#write(entry)
  }

  runChanged(type: RolloutEventType, { runId, details, ...change }: RunChanged): void {
    const entry = entryOfEvent(change, type, { ...details, runId }, change, this.origin)
    if (entry) this.#write(entry)
  }

  /** Only for calls of owners: actions of devices are not audited. */
  deviceChanged(type: EventTypeOf<'device'>, { audited, ownerNo, at }: DeviceChange): void {
    if (audited === undefined) return
    const { deviceId, origin = this.origin, ...change } = audited
    if (origin === undefined) return
    const what = { principal: origin.principal, action: type, subject: `device:${deviceId}` }
    this.#write(newEntry({ ownerNo, at }, what, change, origin))
  }

  /** Adds an entry for a change without an event. */
  audited({ ownerNo, at, action, subject, ...change }: OwnChange): void {
    const { origin } = this
    if (origin === undefined) return
    this.#write(newEntry({ ownerNo, at }, { principal: origin.principal, action, subject }, change, origin))
  }
}
