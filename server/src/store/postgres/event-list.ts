// The event log as readers see it: from any place on, oldest first.

import { type EventFilter, passes, type StoredEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { isForgotten, toEvent } from '../from-rows.ts'
import type { Database } from './database.ts'
import type { Queries, Row } from './rows.ts'
import { STATE_COUNTS } from './runs.ts'

const BOUNDS = `
  SELECT coalesce((SELECT max(event_id) FROM event WHERE owner_no = $1), 0) AS newest,
    forgotten_event_id AS forgotten
  FROM owner WHERE owner_no = $1`
const LIST = `
  SELECT event_id, event.at, type, event.run_id, event.execution_id, device.device_id, from_state, cause, actor,
    event.attempt, event.version_number, details, job_name, total, retry_of, first_execution_id, ${STATE_COUNTS}
  FROM event LEFT JOIN run ON run.run_id = event.run_id LEFT JOIN job ON job.job_no = run.job_no
    LEFT JOIN device ON device.device_no = event.device_no
  WHERE event.owner_no = $1 AND event_id > $2 ORDER BY event_id LIMIT $3`
// Of these runs those that have an execution of the device: by one index what has not ended, by the other the rest.
const ofDevice = (which: string) => `EXISTS (
  SELECT FROM execution WHERE execution_id BETWEEN first AND last AND state ${which} 'CANCELING'
    AND device_no = (SELECT device_no FROM device WHERE owner_no = $1 AND device_id = $2))`
const RUNS_OF_DEVICE = `
  SELECT run_id FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS run (run_id, first, last)
  WHERE ${ofDevice('<=')} OR ${ofDevice('>')}`
const FROM = 'SELECT event_id, at FROM event WHERE owner_no = $1 AND event_id >= $2 ORDER BY event_id LIMIT 1'
const OWNERS = 'SELECT owner_no FROM owner ORDER BY owner_no'
// The newest one stays whatever its age.
const OLD = `
  SELECT count(*)::int AS count, max(event_id) AS up_to FROM (
    SELECT event_id, at FROM event WHERE owner_no = $1
      AND event_id < (SELECT max(event_id) FROM event WHERE owner_no = $1)
    ORDER BY event_id LIMIT $3) AS oldest
  WHERE at < $2`
const FORGET = 'DELETE FROM event WHERE owner_no = $1 AND event_id <= $2'
const FORGOTTEN = `
  UPDATE owner SET forgotten_event_id = greatest(forgotten_event_id, $2::bigint) WHERE owner_no = $1`

/** How many one look goes through; most of them may not pass the filter. */
const lookedAt = 2000
const forgottenAtOnce = 1000

type EventSteps = Pick<
  Store,
  'listEvents' | 'getEvent' | 'getEventBounds' | 'findEventBefore' | 'purgeEvents'
>

export function buildEventSteps(db: Database): EventSteps {
  return {
    getEventBounds: ({ ownerNo }) => getBounds(db, ownerNo),
    listEvents({ ownerNo, filter, slice: { after, limit } }) {
      return db.inSnapshot(async (reads) => {
        const rows = await reads.query(LIST, [ownerNo, after, lookedAt])
        const concerns = await readConcerned(reads, ownerNo, filter, rows)
        const events: StoredEvent[] = []
        let upTo = after
        for (const row of rows) {
          if (events.length === limit) return { events, upTo, more: true }
          upTo = row.event_id as number
          // Its run is forgotten, and it with it.
          if (isForgotten(row)) continue
          const event = toEvent(row)
          if (passes(event, filter) && concerns(row)) events.push(event)
        }
        return { events, upTo, more: rows.length === lookedAt }
      })
    },
    async getEvent({ ownerNo, eventId }) {
      const [row] = await db.query(LIST, [ownerNo, eventId - 1, 1])
      return row?.event_id === eventId && !isForgotten(row) ? toEvent(row) : undefined
    },
    /** Times go with the ids but for seconds, so the place is found by halving. */
    findEventBefore({ ownerNo, at }) {
      return db.inSnapshot(async (reads) => {
        let { forgotten: low, newest: high } = await getBounds(reads, ownerNo)
        while (low < high) {
          const middle = Math.ceil((low + high) / 2)
          const [row] = await reads.query(FROM, [ownerNo, middle])
          if (row !== undefined && (row.at as number) < at) low = row.event_id as number
          else high = middle - 1
        }
        return low
      })
    },
    /** True while there may be more: a bite of each owner, in a transaction of its own. */
    async purgeEvents({ olderThan }) {
      let more = false
      for (const { owner_no: ownerNo } of await db.query(OWNERS)) {
        if (await forgetOfOwner(db, ownerNo as number, olderThan)) more = true
      }
      return more
    },
  }
}

async function getBounds(queries: Queries, ownerNo: number): Promise<{ newest: number; forgotten: number }> {
  const [row] = await queries.query(BOUNDS, [ownerNo])
  return { newest: (row?.newest as number) ?? 0, forgotten: (row?.forgotten as number) ?? 0 }
}

async function forgetOfOwner(db: Database, ownerNo: number, olderThan: number): Promise<boolean> {
  const [old] = await db.query(OLD, [ownerNo, olderThan, forgottenAtOnce])
  const upTo = old?.up_to as number | null | undefined
  if (upTo === null || upTo === undefined) return false
  await db.inTransaction(async (transaction) => {
    await Promise.all([
      transaction.query(FORGOTTEN, [ownerNo, upTo]),
      transaction.query(FORGET, [ownerNo, upTo]),
    ])
  })
  return old?.count === forgottenAtOnce
}

/** A run is of a device's if one of its executions is. */
async function readConcerned(
  queries: Queries,
  ownerNo: number,
  { deviceId }: EventFilter,
  rows: Row[],
): Promise<(row: Row) => boolean> {
  if (deviceId === undefined) return () => true
  const runs = rows.filter((row) => row.device_id === null && row.run_id !== null)
  const found = await queries.query(RUNS_OF_DEVICE, [
    ownerNo,
    deviceId,
    runs.map((row) => row.run_id),
    runs.map((row) => row.first_execution_id),
    runs.map((row) => (row.first_execution_id as number) + (row.total as number) - 1),
  ])
  const concerned = new Set(found.map((row) => row.run_id))
  return (row) => row.device_id !== null || concerned.has(row.run_id)
}
