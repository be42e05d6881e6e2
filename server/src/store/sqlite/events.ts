// The event log as the writer uses it: inside the transaction that makes the change.

import type { DatabaseSync } from 'node:sqlite'
import {
  type DeviceEventType,
  type EventType,
  type ExecState,
  executionEventType,
} from '@jobcast/contract/words'
import type { ExecutionEvent } from '../../domain/execution.ts'
import type { DeviceChange } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'

const INSERT = `
  INSERT INTO event (owner_no, event_id, at, type, run_id, execution_id, device_no, from_state, cause, actor, attempt,
    version_number, details)
  VALUES (:ownerNo, :eventId, :at, :type, :runId, :jobExecutionId, :deviceNo, :from, :cause, :actor, :attempt,
    :versionNumber, :details)`
// Each trigger pays for this one, so it binds no more than it must.
const INSERT_CREATED =
  "INSERT INTO event (owner_no, event_id, at, type, run_id) VALUES (?, ?, ?, 'run.created', ?)"
const NEWEST_OF_ALL = `
  SELECT max((SELECT max(event_id) FROM event WHERE event.owner_no = owner.owner_no)) AS id FROM owner`
const NEWEST = rows({ id: orNull(number()) })
const nothing = {
  runId: null,
  jobExecutionId: null,
  deviceNo: null,
  from: null,
  cause: null,
  actor: null,
  attempt: null,
  versionNumber: null,
  details: null,
}
type Fields = { [Name in keyof typeof nothing]: string | number | null } & { ownerNo: number; at: number }

/** `details`: what the device said with it, as JSON. */
export type ExecutionChange = {
  ownerNo: number
  at: number
  runId: number
  jobExecutionId: number
  deviceNo: number
  from: ExecState
  execState: ExecState
  cause: ExecutionEvent | 'retry'
  actor: string
  attempt: number
  versionNumber: number
  details: string | null
}

/** For the writer, inside its transactions. `onWritten`: there are events that the next commit brings to light. */
export function prepareEventLog(db: DatabaseSync, onWritten: () => void) {
  const insert = db.prepare(INSERT)
  const insertCreated = db.prepare(INSERT_CREATED)
  const newest = db.prepare(NEWEST_OF_ALL).get()
  let lastId = (newest && NEWEST.read(newest).id) ?? 0

  function nextId(): number {
    onWritten()
    return ++lastId
  }

  function append(type: EventType, fields: Pick<Fields, 'ownerNo' | 'at'> & Partial<Fields>): void {
    insert.run({ ...nothing, ...fields, type, eventId: nextId() })
  }

  return {
    runCreated(run: { ownerNo: number; runId: number; launchedAt: number }): void {
      insertCreated.run(run.ownerNo, nextId(), run.launchedAt, run.runId)
    },
    runFinished({ ownerNo, runId, at }: { ownerNo: number; runId: number; at: number }): void {
      append('run.finished', { ownerNo, at, runId })
    },
    executionChanged({ execState, ...fields }: ExecutionChange): void {
      append(fields.cause === 'progress' ? 'execution.progress' : executionEventType(execState), fields)
    },
    deviceChanged(type: DeviceEventType, { ownerNo, deviceNo, at, details }: DeviceChange): void {
      append(type, { ownerNo, deviceNo, at, details: details === undefined ? null : JSON.stringify(details) })
    },
  }
}

export type EventLog = ReturnType<typeof prepareEventLog>
