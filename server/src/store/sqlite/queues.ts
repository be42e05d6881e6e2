// What a device sees: what is under way on it, then what waits for it, oldest first.

import type { DatabaseSync } from 'node:sqlite'
import { shownPending } from '@jobcast/contract/words'
import type { DeviceExecution } from '../../domain/device-report.ts'
import { toDeviceExecution } from '../../domain/execution-move.ts'
import { toLive } from '../live-executions.ts'
import { inSnapshot } from './database.ts'
import { SELECT_LIVE } from './moves.ts'

const ACTIVE = `
  ${SELECT_LIVE} WHERE execution.device_no = ? AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ${shownPending}`
const WAITING = `
  ${SELECT_LIVE} WHERE execution_id IN (SELECT value FROM json_each(?)) AND state = 'PENDING' AND not_before IS NULL
  ORDER BY execution_id LIMIT ${shownPending}`
const OWN = `${SELECT_LIVE} WHERE execution_id = ? AND execution.device_no = ?`

export type QueueQuestion = { deviceNo: number; waiting: number[] }

export function prepareQueues(db: DatabaseSync) {
  const active = db.prepare(ACTIVE)
  const waiting = db.prepare(WAITING)
  const own = db.prepare(OWN)

  function readQueue(question: QueueQuestion): DeviceExecution[] {
    const rows = [...active.all(question.deviceNo), ...waiting.all(JSON.stringify(question.waiting))]
    return rows.slice(0, shownPending).map((row) => toDeviceExecution(toLive(row)))
  }

  return {
    readQueues: (questions: QueueQuestion[]) => inSnapshot(db, () => questions.map(readQueue)),
    getDeviceExecution(input: { deviceNo: number; jobExecutionId: number }): DeviceExecution | undefined {
      const row = own.get(input.jobExecutionId, input.deviceNo)
      return row && toDeviceExecution(toLive(row))
    },
  }
}
