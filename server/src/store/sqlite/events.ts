// The event log as the writer uses it: inside the transaction that makes the change.

import type { DatabaseSync } from 'node:sqlite'
import type { EventTypeOf } from '@jobcast/contract/words'
import type { ExecutionChange } from '../../domain/execution/execution-move.ts'
import { type DeviceChange, insertInto, type ResourceChange, type ResourceEventType } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { event } from '../schema/tables.ts'
import { toEventRow } from '../tables/event-row.ts'
import { prepareNamed } from './named-queries.ts'

const NEWEST_OF_ALL = `
  SELECT max((SELECT max(event_id) FROM event WHERE event.owner_no = owner.owner_no)) AS id FROM owner`
const INSERT_CREATED = `
  INSERT INTO event (owner_no, event_id, at, type, run_id) VALUES (?, ?, ?, 'run.created', ?)`
const NEWEST = rows({ id: orNull(number()) })

type RunEvent = { ownerNo: number; runId: number; at: number; details?: object }

/** For the writer, inside its transactions. `onWritten`: there are events that the next commit brings to light. */
export function prepareEventLog(db: DatabaseSync, onWritten: () => void) {
  const insert = prepareNamed(db, insertInto(event.fields))
  const insertCreated = db.prepare(INSERT_CREATED)
  const newest = db.prepare(NEWEST_OF_ALL).get()
  let lastId = (newest && NEWEST.read(newest).id) ?? 0

  function nextId(): number {
    onWritten()
    return ++lastId
  }

  function write(given: Parameters<typeof toEventRow>[0]): void {
    insert.run({ eventId: nextId(), ...toEventRow(given) })
  }

  return {
    /** The same as the next with `run.created`, for many. */
    runCreated(ownerNo: number, runId: number, at: number): void {
      insertCreated.run(ownerNo, nextId(), at, runId)
    },
    runChanged(type: EventTypeOf<'run'>, { ownerNo, runId, at, details }: RunEvent): void {
      write({ ownerNo, at, type, runId, details: textOf(details) })
    },
    executionChanged(change: ExecutionChange): void {
      write(change)
    },
    deviceChanged(type: EventTypeOf<'device'>, { details, ...change }: DeviceChange): void {
      write({ ...change, type, details: textOf(details) })
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
