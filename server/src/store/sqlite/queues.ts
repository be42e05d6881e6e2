// What a device sees: what is under way on it, then what waits for it, oldest first.

import type { DatabaseSync } from 'node:sqlite'
import { shownPending } from '@jobcast/contract/words'
import type { DeviceExecution } from '../../domain/device-report.ts'
import { inSnapshot } from './database.ts'
import { LIVE_COLUMNS, toDeviceExecution, toLive } from './moves.ts'

const ACTIVE = `
  ${LIVE_COLUMNS} WHERE execution.device_no = ? AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ${shownPending}`
const WAITING = `
  ${LIVE_COLUMNS} WHERE execution_id IN (SELECT value FROM json_each(?)) AND state = 'PENDING' AND not_before IS NULL
  ORDER BY execution_id LIMIT ${shownPending}`
const OWN = `${LIVE_COLUMNS} WHERE execution_id = ? AND execution.device_no = ?`

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
