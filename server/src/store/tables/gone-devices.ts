// Ends executions of deleted devices that remain after the deletion: those of large runs that became visible later, and
// those left over by an earlier process.

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
// A device that was deleted and put again is only found by its event.
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
/** A device may be deleted between its selection and the time of the run; clocks of nodes differ by less. */
const marginMs = 60_000

/** A large run that begins now checks for deletions after this event. */
export async function newestEvent(queries: Queries, { ownerNo }: { ownerNo: number }): Promise<number> {
  return (await queries.one(NEWEST, NEWEST_EVENT, { ownerNo })).eventId
}

export type VisibleRun = Pick<LargeTrigger, 'ownerNo' | 'launchedAt' | 'clock'> & {
  firstExecutionId: number
  total: number
  /** The newest event when the run began. */
  after: number
  actor: string
}

/** Must be called at the end of the transaction that makes the run visible. */
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

/** `leftIds`: on SQLite, executions found at startup, because it has no index of waiting executions by device. */
export type GoneRemoval = Input<'removeGone'> & { leftIds?: number[] }

export async function removeGone(queries: Writes, { moment, actor, leftIds }: GoneRemoval): Promise<Moved[]> {
  const listed = leftIds ?? (await queries.all(LEFT, LIST_LEFT)).map(({ jobExecutionId }) => jobExecutionId)
  return inBatch(queries, async (moves) => {
    const found = await moves.loadById(listed)
    return moves.batch.moveAll(found, { event: 'remove-device', moment, actor })
  })
}
