// Writes events inside the transaction of their change.

import type { DatabaseSync } from 'node:sqlite'
import type { EventTypeOf } from '@jobcast/contract/words'
import { principalOf } from '../../domain/access/principal.ts'
import type { NewAuditEntry } from '../../domain/audit/ports/entries.ts'
import type { ExecutionChange } from '../../domain/execution/execution-move.ts'
import { type DeviceChange, insertInto, type ResourceChange, type ResourceEventType } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { auditEntry, event } from '../schema/tables.ts'
import { toEventRow } from '../tables/event-row.ts'
import { prepareNamed } from './named-queries.ts'

const NEWEST_OF_ALL = `
  SELECT max((SELECT max(event_id) FROM event WHERE event.owner_no = owner.owner_no)) AS id FROM owner`
const INSERT_CREATED = `
  INSERT INTO event (owner_no, event_id, at, type, run_id) VALUES (?, ?, ?, 'run.created', ?)`
const NEWEST_ENTRY = `
  SELECT max(
    coalesce((SELECT max((SELECT max(audit_id) FROM audit_entry WHERE audit_entry.owner_no = owner.owner_no)) FROM owner), 0),
    coalesce((SELECT max((SELECT max(last_audit_id) FROM audit_seal WHERE audit_seal.owner_no = owner.owner_no)) FROM owner), 0)
  ) AS id`
const INSERT_RUN_ENTRY = `
  INSERT INTO audit_entry (owner_no, audit_id, at, principal, action, subject, details)
  VALUES (?, ?, ?, ?, 'run.created', ?, ?)`
const NEWEST = rows({ id: orNull(number()) })

type RunEvent = { ownerNo: number; runId: number; at: number; details?: object }

/** For the writer, inside its transactions. `onWritten`: called when there are events, which the next commit makes visible. */
export function prepareEventLog(db: DatabaseSync, onWritten: () => void) {
  const insert = prepareNamed(db, insertInto(event.fields))
  const insertCreated = db.prepare(INSERT_CREATED)
  const newest = db.prepare(NEWEST_OF_ALL).get()
  let lastId = (newest && NEWEST.read(newest).id) ?? 0
  const insertEntry = prepareNamed(db, insertInto(auditEntry.fields))
  const insertRunEntry = db.prepare(INSERT_RUN_ENTRY)
  const newestEntry = db.prepare(NEWEST_ENTRY).get()
  let lastAuditId = (newestEntry && NEWEST.read(newestEntry).id) ?? 0

  function nextId(): number {
    onWritten()
    return ++lastId
  }

  function write(given: Parameters<typeof toEventRow>[0]): void {
    insert.run({ eventId: nextId(), ...toEventRow(given) })
  }

  return {
    /** Faster than `runChanged`, for many `run.created`. */
    runCreated(ownerNo: number, runId: number, at: number): void {
      insertCreated.run(ownerNo, nextId(), at, runId)
    },
    /** Writes an audit entry; the next method does this for the creation of many runs. */
    audited(entry: NewAuditEntry): void {
      insertEntry.run({ ...entry, auditId: ++lastAuditId })
    },
    runAudited(ownerNo: number, runId: number, at: number, keyId: string, details: string): void {
      insertRunEntry.run(ownerNo, ++lastAuditId, at, principalOf({ keyId }), `run:${runId}`, details)
    },
    runChanged(type: EventTypeOf<'run'>, { ownerNo, runId, at, details }: RunEvent): void {
      write({ ownerNo, at, type, runId, details: textOf(details) })
    },
    executionChanged(change: ExecutionChange): void {
      write(change)
    },
    deviceChanged(type: EventTypeOf<'device'>, { details, ownerNo, deviceNo, at }: DeviceChange): void {
      write({ ownerNo, deviceNo, at, type, details: textOf(details) })
    },
    resourceChanged<Type extends ResourceEventType>(
      type: Type,
      { ownerNo, at, data }: ResourceChange<Type>,
    ): void {
      write({ ownerNo, at, type, details: JSON.stringify(data) })
    },
  }
}

const textOf = (details: object | undefined) => (details === undefined ? null : JSON.stringify(details))

export type EventLog = ReturnType<typeof prepareEventLog>
