// An audit entry as it is written, and as the line that is exported and sealed. Imports no schemas, so that store threads
// can use it.

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
  // Only the caller has an address: an event may name another principal, e.g. one whose key was revoked with the caller's.
  const by = origin?.principal === principal ? origin : undefined
  return { ownerNo, at, principal, action, subject, details: detailsText(change, by) }
}

/** Undefined for actions of the service itself, which are not audited. */
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

// Built as text: a trigger writes an entry for each run, and an import for each device.
function detailsText({ before, after, note }: AuditedChange, origin: Origin | undefined): string {
  return `{${originText(origin)},"before":${maskAudit(before)},"after":${maskAudit(after)},"note":${text(note)}}`
}

function originText(origin: Origin | undefined): string {
  return `"name":${text(origin?.name)},"address":${text(origin?.address)},"requestId":${text(origin?.requestId)}`
}

/** The details for a new run. */
export function runDetails(
  jobName: string,
  devices: number,
  origin: Origin | undefined,
  note?: string,
): string {
  const after = `{"jobName":${JSON.stringify(jobName)},"devices":${devices}}`
  return `{${originText(origin)},"before":null,"after":${after},"note":${text(note)}}`
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

/** As exported and sealed: the same row always gives the same text. */
export function entryLine({ auditId, at, principal, action, subject, details }: StoredAuditEntry): string {
  const who = `"at":"${new Date(at).toISOString()}","principal":${JSON.stringify(principal)}`
  const what = `"action":${JSON.stringify(action)},"subject":${JSON.stringify(subject)}`
  return `{"auditId":${auditId},${who},${what},${details.slice(1)}`
}

const text = (value: string | null | undefined) => (value == null ? 'null' : JSON.stringify(value))
