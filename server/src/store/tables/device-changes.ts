// Changes of devices according to the event log, and devices with the fields for selectors.

import { ends } from '../../domain/rollout/gate.ts'
import type { DeviceChanged, ScheduledMove } from '../../domain/schedule/ports/schedules.ts'
import { inBoth } from '../queries.ts'
import { computed, number, orNull, rows, select } from '../schema/column.ts'
import { device, event, owner } from '../schema/tables.ts'
import { attributesWhere, toAttributes } from './devices.ts'
import type { ReadSteps } from './step.ts'

const BOUNDS = rows({ newest: orNull(number()), purgedUpTo: number() })
const FIND_BOUNDS = `
  SELECT (SELECT max(event_id) FROM event WHERE owner_no = :ownerNo) AS newest, ${owner.fields.purgedEventId.sql} AS "purgedUpTo"
  FROM owner WHERE owner_no = :ownerNo` as const
const CHANGE = select(event.pick('eventId', 'type', 'deviceNo', 'details'))
const LIST = `
  SELECT ${CHANGE} FROM event
  WHERE owner_no = :ownerNo AND event_id > :after AND event_id <= :newest
    AND type IN ('device.created', 'device.updated', 'device.online', 'device.offline')
  ORDER BY event_id LIMIT :limit` as const
const MOVE = select({
  ...event.pick('eventId', 'type', 'deviceNo', 'details', 'jobExecutionId', 'cause'),
  scheduleNo: computed(
    '(SELECT schedule_no FROM run_request WHERE run_request.run_id = event.run_id)',
    orNull(number()),
  ),
})
const movedTo = ['pending', ...ends.map((state) => state.toLowerCase())]
const LIST_WITH_MOVES = `
  SELECT ${MOVE} FROM event
  WHERE owner_no = :ownerNo AND event_id > :after AND event_id <= :newest
    AND type IN ('device.created', 'device.updated', 'device.online', 'device.offline',
      ${movedTo.map((state) => `'execution.${state}'` as const).join(', ') as "'"})
  ORDER BY event_id LIMIT :limit` as const
const SELECTABLE = select({
  ...device.pick('deviceNo', 'deviceId', 'deviceName', 'tags', 'online'),
  attributes: attributesWhere('NOT reported'),
  reportedAttributes: attributesWhere('reported'),
})
const LIST_SELECTABLE = inBoth(
  ({ isIn }) => `
  SELECT ${SELECTABLE} FROM device
  WHERE ${isIn('device_no', 'deviceNos', 'integer')} AND owner_no = :ownerNo AND deleted_at IS NULL`,
)

/** Maximum number of events to catch up; beyond that, reading all devices is less work. */
const mostBehind = 100_000

export const deviceChangeReads: ReadSteps<'listDeviceChanges' | 'listSelectable'> = {
  async listDeviceChanges(queries, { ownerNo, after, limit, withMoves = false }) {
    const bounds = await queries.get(BOUNDS, FIND_BOUNDS, { ownerNo })
    const newest = bounds?.newest ?? 0
    const isLost = after < (bounds?.purgedUpTo ?? 0) || newest - after > mostBehind
    if (isLost || limit === 0) {
      return { changes: [], moves: [], count: 0, upTo: newest, isMore: false, isLost }
    }
    const range = { ownerNo, after, newest, limit }
    const moved = withMoves ? await queries.all(MOVE, LIST_WITH_MOVES, range) : []
    const found = withMoves ? moved : await queries.all(CHANGE, LIST, range)
    const count = found.length
    const isMore = count === limit
    const upTo = isMore ? (found.at(-1)?.eventId ?? newest) : newest
    const changes = found.flatMap((row) => toChange(row) ?? [])
    const moves = moved.flatMap((row) => toMove(row) ?? [])
    return { changes, moves, count, upTo, isMore, isLost }
  },
  async listSelectable(queries, { ownerNo, deviceNos }) {
    if (deviceNos.length === 0) return []
    const found = await queries.all(SELECTABLE, LIST_SELECTABLE, { ownerNo, deviceNos })
    return found.map(({ attributes, reportedAttributes, ...each }) => ({
      ...each,
      attributes: toAttributes(attributes),
      reportedAttributes: toAttributes(reportedAttributes),
    }))
  },
}

function toChange({
  eventId,
  type,
  deviceNo,
  details,
}: ReturnType<typeof CHANGE.read>): DeviceChanged | undefined {
  if (deviceNo === null || type.startsWith('execution.')) return undefined
  if (type === 'device.online' || type === 'device.offline') return { eventId, deviceNo, names: ['online'] }
  const reported = details?.reportedAttributes
  return { eventId, deviceNo, names: reported ? Object.keys(reported) : undefined }
}

function toMove({
  type,
  cause,
  eventId,
  deviceNo,
  jobExecutionId,
  scheduleNo,
}: ReturnType<typeof MOVE.read>): ScheduledMove | undefined {
  if (deviceNo === null || jobExecutionId === null || scheduleNo === null) return undefined
  return { eventId, deviceNo, jobExecutionId, scheduleNo, cause, isEnd: type !== 'execution.pending' }
}
