// The queue of a device: executions in progress, then waiting ones by priority, oldest first.

import { defaultPriority, shownPending } from '@jobcast/contract/words'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DeviceExecution, DeviceQueue } from '../../domain/execution/device-report.ts'
import { toDeviceExecution } from '../../domain/execution/execution-move.ts'
import { isInWindow, isNotFrozen, isReleased, LIVE, liveJoins } from '../live-executions.ts'
import { keysOf } from '../queries.ts'
import { flag, number, rows } from '../schema/column.ts'
import type { Database } from './database.ts'
import type { Row } from './rows.ts'

// Delayed executions are not offered.
const MAY_START = `not_before IS NULL AND ${isReleased.postgres}
  AND ${isNotFrozen} AND ${isInWindow}` as const
const OFFERED =
  `device_no = device.device_no AND state <= 'CANCELING' AND (state <> 'PENDING' OR (${MAY_START}))` as const
const WAITING =
  `SELECT * FROM execution WHERE device_no = queue.device_no AND state = 'PENDING' AND ${MAY_START}` as const
const largestMark = Number.MAX_SAFE_INTEGER

// A mark is a hash of what a device can see: all nodes compute the same one, and it changes with every change. Progress does not
// change it. A waiting execution gets a new version when its device postpones it, even for a short time. A mark needs no writes,
// while a counter per device would double the rows that a trigger writes.
// One statement sees one state of the database, so a run that is being written is in all queues or in none.
const QUEUES = `
  WITH queue AS MATERIALIZED (
    SELECT position, device.device_no, mark, total, prioritized, mark IS DISTINCT FROM unless_mark AS is_wanted
    FROM unnest($1::int[], $2::text[], $3::bigint[]) WITH ORDINALITY AS wanted (owner_no, device_id, unless_mark, position)
      JOIN device USING (owner_no, device_id)
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS total, count(priority) AS prioritized,
          coalesce(bit_xor(hashtextextended(concat_ws(' ', execution_id, state, attempt, CASE WHEN state = 'PENDING' THEN version_number END), 0)), 0) & ${largestMark} AS mark
        FROM execution WHERE ${OFFERED}) AS seen
    WHERE deleted_at IS NULL)
  SELECT position, mark, total, is_wanted AS "isWanted", first.*
  FROM queue LEFT JOIN LATERAL (
    SELECT ${LIVE} FROM (
      (SELECT * FROM execution WHERE device_no = queue.device_no AND state > 'PENDING' AND state <= 'CANCELING'
       ORDER BY execution_id LIMIT ${shownPending})
      UNION ALL
      (${WAITING} AND prioritized > 0 AND priority > ${defaultPriority}
       ORDER BY priority DESC, execution_id LIMIT ${shownPending})
      UNION ALL
      (${WAITING} AND priority IS NULL ORDER BY execution_id LIMIT ${shownPending})
      UNION ALL
      (${WAITING} AND prioritized > 0 AND priority < ${defaultPriority}
       ORDER BY priority DESC, execution_id LIMIT ${shownPending})
      LIMIT ${shownPending}) AS execution ${liveJoins('JOIN')}) AS first ON is_wanted AND total > 0` as const
const UNFINISHED = `
  SELECT 1 FROM device JOIN execution USING (device_no)
  WHERE device.owner_no = $1 AND device_id = $2 AND deleted_at IS NULL AND state <= 'CANCELING' LIMIT 1` as const
/** The other columns of a row are those of LIVE. */
const QUEUE = rows({ position: number(), mark: number(), total: number(), isWanted: flag() })

export function buildQueueSteps(db: Database): Pick<Store, 'readQueues' | 'hasUnfinished'> {
  return {
    async readQueues(wanted) {
      if (wanted.length === 0) return []
      const { ownerNos, deviceIds } = keysOf(wanted)
      const marks = wanted.map(({ unlessMark }) => unlessMark ?? null)
      const found = await db.query(QUEUES, [ownerNos, deviceIds, marks])
      const byPosition = Map.groupBy(found, (row) => QUEUE.read(row).position)
      return wanted.map((_, index) => toQueue(byPosition.get(index + 1)))
    },
    async hasUnfinished({ ownerNo, deviceId }) {
      return (await db.query(UNFINISHED, [ownerNo, deviceId])).length > 0
    },
  }
}

function toQueue(found: Row[] | undefined): DeviceQueue | 'unchanged' | undefined {
  const [first] = found ?? []
  if (found === undefined || first === undefined) return undefined
  const { mark, total, isWanted } = QUEUE.read(first)
  if (!isWanted) return 'unchanged'
  const executions = found
    .filter((row) => row.jobExecutionId !== null)
    .map((row) => toDeviceExecution(LIVE.read(row)))
  return { mark, total, executions: executions.sort(byTurn) }
}

/** Executions in progress first, in the order of the ids, then waiting ones by priority. */
function byTurn(one: DeviceExecution, other: DeviceExecution): number {
  const turn = ({ execState }: DeviceExecution) => (execState === 'PENDING' ? 1 : 0)
  const rank = ({ execState, priority }: DeviceExecution) => (execState === 'PENDING' ? -priority : 0)
  return turn(one) - turn(other) || rank(one) - rank(other) || one.jobExecutionId - other.jobExecutionId
}
