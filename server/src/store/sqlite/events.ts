// The event log as the writer uses it: inside the transaction that makes the change.

import type { DatabaseSync } from 'node:sqlite'
import type { AccessEventType, DeviceEventType } from '@jobcast/contract/words'
import type { ExecutionChange } from '../../domain/execution-move.ts'
import type { AccessChange, DeviceChange } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'

const INSERT_OF_EXECUTION = `
  INSERT INTO event (owner_no, event_id, at, type, run_id, execution_id, device_no, from_state, cause, actor, attempt,
    version_number, details)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_OF_RUN = 'INSERT INTO event (owner_no, event_id, at, type, run_id) VALUES (?, ?, ?, ?, ?)'
const INSERT_OF_DEVICE =
  'INSERT INTO event (owner_no, event_id, at, type, device_no, details) VALUES (?, ?, ?, ?, ?, ?)'
const INSERT_OF_ACCESS = 'INSERT INTO event (owner_no, event_id, at, type, details) VALUES (?, ?, ?, ?, ?)'
const NEWEST_OF_ALL = `
  SELECT max((SELECT max(event_id) FROM event WHERE event.owner_no = owner.owner_no)) AS id FROM owner`
const NEWEST = rows({ id: orNull(number()) })

/** For the writer, inside its transactions. `onWritten`: there are events that the next commit brings to light. */
export function prepareEventLog(db: DatabaseSync, onWritten: () => void) {
  const insertOfExecution = db.prepare(INSERT_OF_EXECUTION)
  const insertOfRun = db.prepare(INSERT_OF_RUN)
  const insertOfDevice = db.prepare(INSERT_OF_DEVICE)
  const insertOfAccess = db.prepare(INSERT_OF_ACCESS)
  const newest = db.prepare(NEWEST_OF_ALL).get()
  let lastId = (newest && NEWEST.read(newest).id) ?? 0

  function nextId(): number {
    onWritten()
    return ++lastId
  }

  return {
    runCreated(run: { ownerNo: number; runId: number; launchedAt: number }): void {
      insertOfRun.run(run.ownerNo, nextId(), run.launchedAt, 'run.created', run.runId)
    },
    runFinished({ ownerNo, runId, at }: { ownerNo: number; runId: number; at: number }): void {
      insertOfRun.run(ownerNo, nextId(), at, 'run.finished', runId)
    },
    executionChanged(change: ExecutionChange): void {
      const { ownerNo, at, type, runId, jobExecutionId, deviceNo, from, cause, actor, attempt } = change
      const { versionNumber, details } = change
      insertOfExecution.run(
        ownerNo,
        nextId(),
        at,
        type,
        runId,
        jobExecutionId,
        deviceNo,
        from,
        cause,
        actor,
        attempt,
        versionNumber,
        details,
      )
    },
    deviceChanged(type: DeviceEventType, { ownerNo, deviceNo, at, details }: DeviceChange): void {
      const text = details === undefined ? null : JSON.stringify(details)
      insertOfDevice.run(ownerNo, nextId(), at, type, deviceNo, text)
    },
    accessChanged(type: AccessEventType, { ownerNo, at, data }: AccessChange): void {
      insertOfAccess.run(ownerNo, nextId(), at, type, JSON.stringify(data))
    },
  }
}

export type EventLog = ReturnType<typeof prepareEventLog>
