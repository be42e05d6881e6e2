// An entry as it is written, and as the line that is exported and sealed. Free of schemas, so that threads of the store can
// use it.

import { eventMap, nounOf } from '@jobcast/contract/words'
import { principalOf, service } from '../access/principal.ts'
import { maskAudit } from './mask-audit.ts'
import type { AuditedChange, NewAuditEntry, Origin, StoredAuditEntry } from './ports/entries.ts'

type Where = { ownerNo: number; at: number }

export function newEntry(
  { ownerNo, at }: Where,
  { principal, action, subject }: Pick<NewAuditEntry, 'principal' | 'action' | 'subject'>,
  change: AuditedChange,
  origin: Origin | undefined,
): NewAuditEntry {
  // Whoever is named by an event, but has not called, has no address: a key that is revoked takes others with it.
  const by = origin?.principal === principal ? origin : undefined
  return { ownerNo, at, principal, action, subject, details: detailsText(change, by) }
}

/** Undefined: what the service does by itself is not audited. */
export function entryOfEvent(
  where: Where,
  type: string,
  data: Readonly<Record<string, unknown>>,
  change: AuditedChange,
  origin: Origin | undefined,
): NewAuditEntry | undefined {
  const { principal } = data
  if (typeof principal !== 'string' || principal === service || principal === '') return undefined
  const noun = nounOf(type)
  const { id } = eventMap[noun]
  const subject = id === null ? noun : `${noun}:${data[id]}`
  const because = typeof data.because === 'string' ? data.because : data.comment
  const note = change.note ?? (typeof because === 'string' ? because : undefined)
  return newEntry(where, { principal, action: type, subject }, { ...change, note }, origin)
}

function detailsText({ before, after, note }: AuditedChange, origin?: Partial<Origin>): string {
  const { name = null, address = null, requestId = null } = origin ?? {}
  return JSON.stringify({
    ...{ name, address, requestId },
    ...{ before: maskAudit(before), after: maskAudit(after), note: note ?? null },
  })
}

/** Of a new run: each trigger has one, so it is put together from what is known anyway. */
export function runDetails(
  jobName: string,
  devices: number,
  origin: Origin | undefined,
  note?: string,
): string {
  const after = `{"jobName":${JSON.stringify(jobName)},"devices":${devices}}`
  const from = `"name":${text(origin?.name)},"address":${text(origin?.address)},"requestId":${text(origin?.requestId)}`
  return `{${from},"before":null,"after":${after},"note":${text(note)}}`
}

export function runEntry(
  run: { ownerNo: number; runId: number; launchedAt: number; keyId: string },
  details: string,
): NewAuditEntry {
  const { ownerNo, runId, launchedAt: at, keyId } = run
  return {
    ownerNo,
    at,
    principal: principalOf({ keyId }),
    action: 'run.created',
    subject: `run:${runId}`,
    details,
  }
}

/** As it is exported and sealed: the same text whenever it is made from the same row. */
export function entryLine({ auditId, at, principal, action, subject, details }: StoredAuditEntry): string {
  const who = `"at":"${new Date(at).toISOString()}","principal":${JSON.stringify(principal)}`
  const what = `"action":${JSON.stringify(action)},"subject":${JSON.stringify(subject)}`
  return `{"auditId":${auditId},${who},${what},${details.slice(1)}`
}

const text = (value: string | null | undefined) => (value == null ? 'null' : JSON.stringify(value))
