// Executions of devices that are deleted. A deletion ends what there is of its device; what a large run brings to light
// afterwards is ended here, and what an earlier process has left.

import { batchSize } from '../../domain/execution/move-batch.ts'
import type { Moved } from '../../domain/execution/ports/executions.ts'
import type { LargeTrigger } from '../../domain/trigger/trigger.ts'
import { isUnfinished, LIVE, liveJoins } from '../live-executions.ts'
import { inBatch } from '../moves.ts'
import { inBoth, type Queries, type Writes } from '../queries.ts'
import { computed, number, select } from '../schema/column.ts'
import { device, execution } from '../schema/tables.ts'
import type { Input } from './step.ts'

const NEWEST = select({ eventId: computed('coalesce(max(event_id), 0)', number()) })
const NEWEST_EVENT = `SELECT ${NEWEST} FROM event WHERE owner_no = :ownerNo` as const
const GONE = select(device.pick('deviceNo'))
// One that was deleted and put again meanwhile is known by its event alone.
const GONE_SINCE = `
  SELECT ${GONE} FROM device WHERE owner_no = :ownerNo AND deleted_at >= :since AND deleted_at IS NOT NULL
  UNION SELECT event.device_no FROM event
  WHERE event.owner_no = :ownerNo AND event_id > :after AND type = 'device.deleted'` as const
const OF_DEVICES = inBoth(
  ({ is, join, isIn, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE execution_id BETWEEN :first AND :last AND ${isIn('execution.device_no', 'deviceNos', 'integer')}
    AND ${isUnfinished[is]}
  ORDER BY execution_id ${lockExecution}`,
)
const LEFT = select(execution.pick('jobExecutionId'))
const LIST_LEFT = inBoth(
  ({ is, join }) => `
  SELECT ${LEFT} FROM device
    ${join} execution ON execution.device_no = device.device_no AND ${isUnfinished[is]}
    ${join} run ON run.run_id = execution.run_id
  WHERE device.deleted_at IS NOT NULL LIMIT ${batchSize}`,
)
/** A device may be deleted between its selection and the instant of the run; clocks of nodes differ by less. */
const marginMs = 60_000

/** Behind this event a large run that begins now looks for deletions. */
export async function newestEvent(queries: Queries, { ownerNo }: { ownerNo: number }): Promise<number> {
  return (await queries.one(NEWEST, NEWEST_EVENT, { ownerNo })).eventId
}

export type VisibleRun = Pick<LargeTrigger, 'ownerNo' | 'launchedAt' | 'clock'> & {
  firstExecutionId: number
  total: number
  /** The newest event when it began. */
  after: number
  actor: string
}

/** In the transaction in which the run becomes visible, behind everything else of it. */
export async function endOfGoneDevices(queries: Writes, run: VisibleRun): Promise<Moved[]> {
  const { ownerNo, launchedAt, clock, firstExecutionId: first, total, after, actor } = run
  const gone = await queries.all(GONE, GONE_SINCE, { ownerNo, since: launchedAt - marginMs, after })
  if (gone.length === 0) return []
  const deviceNos = gone.map(({ deviceNo }) => deviceNo)
  const moment = { at: launchedAt, clock, chance: 0, cancelDeadlineMs: 0 }
  return inBatch(queries, async (moves) => {
    const found = await moves.load(OF_DEVICES, { first, last: first + total - 1, deviceNos })
    return moves.batch.moveAll(found, { event: 'remove-device', moment, actor })
  })
}

/** `leftIds`: on SQLite, what memory has found at the start; it has no index by device of what waits. */
export type GoneRemoval = Input<'removeGone'> & { leftIds?: number[] }

export async function removeGone(queries: Writes, { moment, actor, leftIds }: GoneRemoval): Promise<Moved[]> {
  const listed = leftIds ?? (await queries.all(LEFT, LIST_LEFT)).map(({ jobExecutionId }) => jobExecutionId)
  return inBatch(queries, async (moves) => {
    const found = await moves.loadById(listed)
    return moves.batch.moveAll(found, { event: 'remove-device', moment, actor })
  })
}
