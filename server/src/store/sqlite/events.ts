// The event log: written inside the transaction that makes the change, read from any place on.

import type { DatabaseSync } from 'node:sqlite'
import type { DeviceEventType } from '@jobcast/contract/words'
import { type EventFilter, passes, type StoredEvent } from '../../domain/event.ts'
import type { ExecutionChange } from '../../domain/execution-move.ts'
import { isForgotten, toEvent } from '../from-rows.ts'
import type { Row } from './rows.ts'
import { STATE_COUNTS } from './runs.ts'

const INSERT_OF_EXECUTION = `
  INSERT INTO event (owner_no, event_id, at, type, run_id, execution_id, device_no, from_state, cause, actor, attempt,
    version_number, details)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_OF_RUN = 'INSERT INTO event (owner_no, event_id, at, type, run_id) VALUES (?, ?, ?, ?, ?)'
const INSERT_OF_DEVICE =
  'INSERT INTO event (owner_no, event_id, at, type, device_no, details) VALUES (?, ?, ?, ?, ?, ?)'
const NEWEST_OF_ALL = `
  SELECT max((SELECT max(event_id) FROM event WHERE event.owner_no = owner.owner_no)) AS event_id FROM owner`
const BOUNDS = `
  SELECT coalesce((SELECT max(event_id) FROM event WHERE owner_no = :ownerNo), 0) AS newest,
    forgotten_event_id AS forgotten
  FROM owner WHERE owner_no = :ownerNo`
const LIST = `
  SELECT event_id, event.at, type, event.run_id, event.execution_id, device.device_id, from_state, cause, actor,
    event.attempt, event.version_number, details, job_name, total, retry_of, first_execution_id, ${STATE_COUNTS}
  FROM event LEFT JOIN run ON run.run_id = event.run_id LEFT JOIN job ON job.job_no = run.job_no
    LEFT JOIN device ON device.device_no = event.device_no
  WHERE event.owner_no = ? AND event_id > ? ORDER BY event_id LIMIT ?`
const IS_IN_RUN = `
  SELECT 1 FROM execution WHERE execution_id BETWEEN :first AND :last
    AND device_no = (SELECT device_no FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId) LIMIT 1`
const FROM = 'SELECT event_id, at FROM event WHERE owner_no = ? AND event_id >= ? ORDER BY event_id LIMIT 1'
const OLDEST = 'SELECT event_id, at FROM event WHERE owner_no = ? ORDER BY event_id LIMIT ?'
const OWNERS = 'SELECT owner_no FROM owner'
const FORGET = 'DELETE FROM event WHERE owner_no = ? AND event_id <= ?'
const FORGOTTEN = 'UPDATE owner SET forgotten_event_id = ? WHERE owner_no = ?'

/** How many one look goes through; most of them may not pass the filter. */
const lookedAt = 2000
const forgottenAtOnce = 1000

type DeviceChange = { ownerNo: number; deviceNo: number; at: number; details?: object }

/** For the writer, inside its transactions. `onWritten`: there are events that the next commit brings to light. */
export function prepareEventLog(db: DatabaseSync, onWritten: () => void) {
  const insertOfExecution = db.prepare(INSERT_OF_EXECUTION)
  const insertOfRun = db.prepare(INSERT_OF_RUN)
  const insertOfDevice = db.prepare(INSERT_OF_DEVICE)
  const oldest = db.prepare(OLDEST)
  const owners = db.prepare(OWNERS)
  const forget = db.prepare(FORGET)
  const setForgotten = db.prepare(FORGOTTEN)
  const bounds = db.prepare(BOUNDS)
  let lastId = (db.prepare(NEWEST_OF_ALL).get()?.event_id as number | null | undefined) ?? 0

  function nextId(): number {
    onWritten()
    return ++lastId
  }

  /** The newest one stays whatever its age: ids go on from there. */
  function forgetOfOwner(ownerNo: number, olderThan: number): boolean {
    const newest = bounds.get({ ownerNo })?.newest as number
    let upTo: number | undefined
    let count = 0
    for (const row of oldest.iterate(ownerNo, forgottenAtOnce)) {
      if ((row.at as number) >= olderThan || (row.event_id as number) >= newest) break
      upTo = row.event_id as number
      count++
    }
    if (upTo === undefined) return false
    forget.run(ownerNo, upTo)
    setForgotten.run(upTo, ownerNo)
    return count === forgottenAtOnce
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
    /** True while there may be more: one call takes a bite that does not hold the writer up. */
    purgeEvents(olderThan: number): boolean {
      return owners
        .all()
        .map((row) => forgetOfOwner(row.owner_no as number, olderThan))
        .includes(true)
    },
  }
}

export type EventLog = ReturnType<typeof prepareEventLog>

export function prepareEvents(db: DatabaseSync) {
  const bounds = db.prepare(BOUNDS)
  const list = db.prepare(LIST)
  const isInRun = db.prepare(IS_IN_RUN)
  const firstFrom = db.prepare(FROM)

  function getEventBounds(ownerNo: number): { newest: number; forgotten: number } {
    const row = bounds.get({ ownerNo })
    return { newest: (row?.newest as number) ?? 0, forgotten: (row?.forgotten as number) ?? 0 }
  }

  /** A run is of a device's if one of its executions is. */
  function concerns(ownerNo: number, row: Row, { deviceId }: EventFilter): boolean {
    if (deviceId === undefined || row.device_id !== null) return true
    const first = row.first_execution_id as number
    const last = first + (row.total as number) - 1
    return isInRun.get({ first, last, ownerNo, deviceId }) !== undefined
  }

  return {
    getEventBounds,
    listEvents(input: { ownerNo: number; filter: EventFilter; after: number; limit: number }) {
      const { ownerNo, filter, after, limit } = input
      const events: StoredEvent[] = []
      let upTo = after
      let looked = 0
      for (const row of list.iterate(ownerNo, after, lookedAt)) {
        if (events.length === limit) return { events, upTo, more: true }
        looked++
        upTo = row.event_id as number
        // Its run is forgotten, and it with it.
        if (isForgotten(row)) continue
        const event = toEvent(row)
        if (passes(event, filter) && concerns(ownerNo, row, filter)) events.push(event)
      }
      return { events, upTo, more: looked === lookedAt }
    },
    getEvent(input: { ownerNo: number; eventId: number }): StoredEvent | undefined {
      const row = list.get(input.ownerNo, input.eventId - 1, 1)
      return row?.event_id === input.eventId && !isForgotten(row) ? toEvent(row) : undefined
    },
    /** Times go with the ids but for seconds, so the place is found by halving. */
    findEventBefore(input: { ownerNo: number; at: number }): number {
      const { ownerNo, at } = input
      let { forgotten: low, newest: high } = getEventBounds(ownerNo)
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        const row = firstFrom.get(ownerNo, middle)
        if (row !== undefined && (row.at as number) < at) low = row.event_id as number
        else high = middle - 1
      }
      return low
    },
  }
}
