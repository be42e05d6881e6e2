// State changes requested by an owner: of one execution, of a run, and of the executions of a deleted device.

import { batchSize } from '../../domain/execution/move-batch.ts'
import type { Moved } from '../../domain/execution/ports/executions.ts'
import { isUnfinished, LIVE, liveJoins, RUN_RANGE } from '../live-executions.ts'
import { inBatch } from '../moves.ts'
import { inBoth, type Writes } from '../queries.ts'
import { deleteDeviceRow } from './devices.ts'
import { executionReads } from './executions.ts'
import type { Input, WriteSteps } from './step.ts'

const RUN = `SELECT ${RUN_RANGE} FROM run WHERE run_id = :runId AND owner_no = :ownerNo` as const
const UNFINISHED = inBoth(
  ({ is, join, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE execution_id BETWEEN :from AND :last AND ${isUnfinished[is]}
  ORDER BY execution_id LIMIT ${batchSize} ${lockExecution}`,
)
// SQLite has no index of waiting executions by device; it has them in memory.
const LEFT_BY_DEVICE = inBoth(
  ({ is, join, isIn, lockExecution }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE ${is === 'sqlite' ? isIn('execution_id', 'unfinishedIds', 'bigint') : 'execution.device_no = :deviceNo'}
    AND ${isUnfinished[is]}
  ORDER BY execution_id ${lockExecution}`,
)

export const executionMoves: WriteSteps<'moveExecution' | 'moveRun'> = {
  async moveExecution(queries, move) {
    const outcome = await inBatch(queries, async (moves) => {
      await moves.loadById([move.jobExecutionId])
      return moves.batch.moveOwn(move)
    })
    if (outcome.kind !== 'moved') return outcome
    const execution = await executionReads.getExecution(queries, move)
    const { from } = outcome.moved
    if (execution)
      queries.audited({
        ...{ ownerNo: move.ownerNo, at: move.moment.at, action: 'execution.canceled' },
        subject: `execution:${move.jobExecutionId}`,
        ...{ before: { execState: from }, after: { execState: execution.execState } },
      })
    return execution ? { kind: 'moved', execution, from } : { kind: 'unknown-execution' }
  },
  async moveRun(queries, { ownerNo, runId, from, to = Number.MAX_SAFE_INTEGER, ...move }) {
    const run = await queries.get(RUN_RANGE, RUN, { runId, ownerNo })
    if (run === undefined) return undefined
    const first = from ?? run.first
    const last = Math.min(run.last, to)
    return inBatch(queries, async (moves) => {
      const found = await moves.load(UNFINISHED, { from: first, last })
      const next = found.length < batchSize ? undefined : (found.at(-1)?.jobExecutionId ?? last) + 1
      const moved = moves.batch.moveAll(found, move)
      const at = move.moment.at
      // Only the first batch of a cancel belongs to a call.
      if (moved.length > 0)
        queries.audited({ ownerNo, at, action: 'run.canceled', subject: `run:${runId}`, note: move.event })
      return { moved, next }
    })
  },
}

/** `unfinishedIds`: on SQLite, the device's queue in memory. */
export type DeviceRemoval = Input<'deleteDevice'> & { unfinishedIds?: number[] }

export async function deleteDevice(
  queries: Writes,
  { ownerNo, deviceId, moment, actor, unfinishedIds }: DeviceRemoval,
): Promise<Moved[] | undefined> {
  const deviceNo = await deleteDeviceRow(queries, { ownerNo, deviceId, at: moment.at })
  if (deviceNo === undefined) return undefined
  return inBatch(queries, async (moves) => {
    const left = await moves.load(LEFT_BY_DEVICE, { deviceNo, unfinishedIds })
    return moves.batch.moveAll(left, { event: 'remove-device', moment, actor })
  })
}
