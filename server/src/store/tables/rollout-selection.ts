// Selectors of a rollout: matches devices of a wave, and devices that meet the condition of a gate.

import { inBoth } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import { withSelector } from './selector-sql.ts'
import type { ReadSteps } from './step.ts'

const ID = select(device.pick('deviceId'))
const COUNT = rows({ count: number() })

const isListed = inBoth(({ isIn }) => isIn('device.device_id', 'deviceIds', 'text')) as Record<
  'sqlite' | 'postgres',
  string
>

export const rolloutSelectionReads: ReadSteps<'matchDevices' | 'countConfirmed'> = {
  async matchDevices(queries, { ownerNo, where, deviceIds }) {
    const { sql, values } = withSelector(
      (compiler) => `
      SELECT ${ID} FROM device
      WHERE device.owner_no = :ownerNo AND ${isListed[compiler.is]} AND device.deleted_at IS NULL
        AND ${compiler.condition(where)}`,
      { ownerNo, deviceIds },
    )
    return (await queries.all(ID, sql, values)).map(({ deviceId }) => deviceId)
  },
  async countConfirmed(queries, { ownerNo, runId, from, to, where }) {
    const { sql, values } = withSelector(
      (compiler) => {
        const join = compiler.is === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
        return `
      SELECT count(*) AS count FROM run
        ${join} execution ON execution_id >= first_execution_id + :from AND execution_id < first_execution_id + :to
          AND state = 'SUCCEEDED'
        ${join} device ON device.device_no = execution.device_no
      WHERE run.run_id = :runId AND run.owner_no = :ownerNo AND ${compiler.condition(where)}`
      },
      { ownerNo, runId, from, to },
    )
    return (await queries.one(COUNT, sql, values)).count
  },
}
