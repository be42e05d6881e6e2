// Moves that an owner asks for: of one execution, of a run, and of all that a deleted device has left.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecutionMove, Moved, MoveOutcome } from '../../domain/store.ts'
import { batchSize } from '../apply-moves.ts'
import { RUN_RANGE, toLive } from '../live-executions.ts'
import type { Writes } from '../queries.ts'
import { deleteDeviceRow } from '../tables/devices.ts'
import { executionReads } from '../tables/executions.ts'
import type { Input } from '../tables/step.ts'
import { asOnDisk, type MovedExecution, type Moves, SELECT_LIVE } from './moves.ts'

const RUN = `SELECT ${RUN_RANGE} FROM run WHERE run_id = ? AND owner_no = ?`
const UNFINISHED = `
  ${SELECT_LIVE} WHERE execution_id BETWEEN ? AND ? AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ${batchSize}`

/** `unfinishedIds`: what memory has in the device's queue. */
type DeviceRemoval = Input<'deleteDevice'> & { unfinishedIds: number[] }

export function prepareOwnerMoves(db: DatabaseSync, queries: Writes, { loadByIds, inBatch }: Moves) {
  const range = db.prepare(RUN)
  const unfinished = db.prepare(UNFINISHED)

  return {
    async moveExecution(input: ExecutionMove): Promise<MoveOutcome & { moved?: MovedExecution }> {
      const outcome = inBatch((batch) => {
        batch.load(loadByIds([input.jobExecutionId]))
        const found = batch.moveOwn(input)
        return found.kind === 'moved' ? { ...found, moved: asOnDisk(batch, found.moved) } : found
      })
      if (outcome.kind !== 'moved') return outcome
      const execution = await executionReads.getExecution(queries, input)
      const { moved } = outcome
      return execution ? { kind: 'moved', execution, from: moved.from, moved } : { kind: 'unknown-execution' }
    },
    moveRun({ runId, ownerNo, from, ...move }: Input<'moveRun'>) {
      const row = range.get(runId, ownerNo)
      if (row === undefined) return undefined
      const { first, last } = RUN_RANGE.read(row)
      const found = unfinished.all(from ?? first, last).map(toLive)
      const moved = inBatch((batch) =>
        batch.moveAll(batch.load(found), move).map((each) => asOnDisk(batch, each)),
      )
      const next = found.length < batchSize ? undefined : (found.at(-1)?.jobExecutionId ?? last) + 1
      return { moved, next }
    },
    async deleteDevice(removal: DeviceRemoval): Promise<Moved[] | undefined> {
      const { ownerNo, deviceId, moment, actor, unfinishedIds } = removal
      const deviceNo = await deleteDeviceRow(queries, { ownerNo, deviceId, at: moment.at })
      if (deviceNo === undefined) return undefined
      return inBatch((batch) =>
        batch.moveAll(batch.load(loadByIds(unfinishedIds)), { event: 'remove-device', moment, actor }),
      )
    },
  }
}
