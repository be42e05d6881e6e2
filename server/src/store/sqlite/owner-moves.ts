// Moves that an owner asks for: of one execution, of a run, and of all that a deleted device has left.

import type { DatabaseSync } from 'node:sqlite'
import type { ExecutionMove, MoveOutcome, Store, StoredExecution } from '../../domain/store.ts'
import { batchSize } from '../apply-moves.ts'
import { toLive } from '../live-executions.ts'
import { asOnDisk, type MovedExecution, type Moves, SELECT_LIVE } from './moves.ts'

const RUN = `
  SELECT first_execution_id AS first, first_execution_id + total - 1 AS last FROM run WHERE run_id = ? AND owner_no = ?`
const UNFINISHED = `
  ${SELECT_LIVE} WHERE execution_id BETWEEN ? AND ? AND state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ${batchSize}`

type RunMove = Parameters<Store['moveRun']>[0]
type DeviceRemoval = Omit<ExecutionMove, 'jobExecutionId' | 'event'> & {
  deviceId: string
  unfinishedIds: number[]
}

export function prepareOwnerMoves(
  db: DatabaseSync,
  { loadByIds, inBatch }: Moves,
  rows: {
    getExecution: (of: ExecutionMove) => StoredExecution | undefined
    deleteDeviceRow: (device: { ownerNo: number; deviceId: string; at: number }) => boolean
  },
) {
  const range = db.prepare(RUN)
  const unfinished = db.prepare(UNFINISHED)

  return {
    moveExecution(input: ExecutionMove): MoveOutcome & { moved?: MovedExecution } {
      const outcome = inBatch((batch) => {
        batch.load(loadByIds([input.jobExecutionId]))
        const found = batch.moveOwn(input)
        return found.kind === 'moved' ? { ...found, moved: asOnDisk(batch, found.moved) } : found
      })
      if (outcome.kind !== 'moved') return outcome
      const execution = rows.getExecution(input) as StoredExecution
      return { kind: 'moved', execution, from: outcome.moved.from, moved: outcome.moved }
    },
    moveRun({ runId, ownerNo, from, ...move }: RunMove) {
      const run = range.get(runId, ownerNo)
      if (run === undefined) return undefined
      const rows = unfinished.all(from ?? (run.first as number), run.last as number).map(toLive)
      const moved = inBatch((batch) =>
        batch.moveAll(batch.load(rows), move).map((each) => asOnDisk(batch, each)),
      )
      const next = rows.length < batchSize ? undefined : (rows.at(-1)?.jobExecutionId ?? 0) + 1
      return { moved, next }
    },
    deleteDevice({ ownerNo, deviceId, moment, actor, unfinishedIds }: DeviceRemoval) {
      if (!rows.deleteDeviceRow({ ownerNo, deviceId, at: moment.at })) return undefined
      return inBatch((batch) =>
        batch.moveAll(batch.load(loadByIds(unfinishedIds)), { event: 'remove-device', moment, actor }),
      )
    },
  }
}
