// The queue of a device: executions in progress, then waiting ones in the order from memory.

import { shownPending } from '@jobcast/contract/words'
import type { DeviceExecution } from '../../domain/execution/device-report.ts'
import { toDeviceExecution } from '../../domain/execution/execution-move.ts'
import { LIVE, liveJoins } from '../live-executions.ts'
import type { SqliteQueries } from './named-queries.ts'

const SELECT = `SELECT ${LIVE} FROM execution ${liveJoins('CROSS JOIN')}` as const
const ACTIVE = `
  ${SELECT} WHERE execution.device_no = :deviceNo AND state IN ('IN_PROGRESS', 'CANCELING')
  ORDER BY execution_id LIMIT ${shownPending}` as const
// The outer loop gives the order of the list.
const WAITING = `
  SELECT ${LIVE} FROM json_each(:waiting) AS wanted CROSS JOIN execution ON execution_id = wanted.value
    ${liveJoins('CROSS JOIN')}
  WHERE state = 'PENDING' AND not_before IS NULL LIMIT ${shownPending}` as const

export type QueueQuestion = { deviceNo: number; waiting: number[] }

/** Without requests there is nothing to read. */
export function readQueues(
  { statementOf }: SqliteQueries,
  questions: (QueueQuestion | undefined)[],
): DeviceExecution[][] {
  const [active, waiting] = [statementOf(ACTIVE), statementOf(WAITING)]
  return questions.map((question) => {
    if (question === undefined) return []
    const { deviceNo, waiting: ids } = question
    const rows = [...active.all({ deviceNo }), ...waiting.all({ waiting: ids })]
    return rows.slice(0, shownPending).map((row) => toDeviceExecution(LIVE.read(row)))
  })
}
