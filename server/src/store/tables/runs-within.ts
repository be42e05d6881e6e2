// Counts executions of runs whose devices match a selector. Reads all executions of these runs: on SQLite in the thread for
// selectors.

import { type ExecState, execStates } from '@jobcast/contract/words'
import { inBoth } from '../queries.ts'
import { number, orNull, rows } from '../schema/column.ts'
import { execution, run } from '../schema/tables.ts'
import { countFlowsWithin } from './flows-within.ts'
import { withSelector } from './selector-sql.ts'
import type { ReadSteps } from './step.ts'

const COUNT = rows({
  ...run.pick('runId'),
  ...execution.pick('execState'),
  ...{ count: number(), endedAt: orNull(number()) },
})
const FROM = inBoth(
  ({ wanted, join }) => `
  FROM ${wanted('runIds')}
    ${join} run ON run.run_id = wanted.id AND run.owner_no = :ownerNo
    ${join} execution ON execution.execution_id BETWEEN run.first_execution_id
      AND run.first_execution_id + run.total - 1
    ${join} device ON device.device_no = execution.device_no AND device.deleted_at IS NULL`,
) as Record<'sqlite' | 'postgres', string>

const DURATION = rows({ ...run.pick('runId'), ms: number() })

export const runsWithinSnapshots: ReadSteps<'countRunsWithin' | 'listDurationsWithin' | 'countFlowsWithin'> =
  {
    async countRunsWithin(queries, { ownerNo, runIds, where }) {
      if (runIds.length === 0) return []
      const { sql, values } = withSelector(
        (compiler) => `
      SELECT run.run_id AS "runId", execution.state AS "execState", count(*) AS count,
        max(execution.finished_at) AS "endedAt"
      ${FROM[compiler.is]} WHERE ${compiler.condition(where)}
      GROUP BY run.run_id, execution.state`,
        { ownerNo, runIds },
      )
      const found = await queries.all(COUNT, sql, values)
      return [...Map.groupBy(found, ({ runId }) => runId)].map(([runId, parts]) => {
        const counts = Object.fromEntries(execStates.map((state) => [state, 0])) as Record<ExecState, number>
        for (const { execState, count } of parts) counts[execState] = count
        const total = parts.reduce((sum, { count }) => sum + count, 0)
        const hasEnded = counts.PENDING + counts.IN_PROGRESS + counts.CANCELING === 0
        const endedAt = hasEnded ? Math.max(...parts.map((part) => part.endedAt ?? 0)) : null
        return { runId, total, counts, endedAt }
      })
    },
    async listDurationsWithin(queries, { ownerNo, runIds, where, stride }) {
      if (runIds.length === 0) return []
      const { sql, values } = withSelector(
        (compiler) => `
      SELECT run.run_id AS "runId", execution.finished_at - execution.started_at AS ms
      ${FROM[compiler.is]} WHERE execution.state = 'SUCCEEDED' AND execution.started_at IS NOT NULL
        AND execution.execution_id % CAST(:stride AS bigint) = 0 AND ${compiler.condition(where)}`,
        { ownerNo, runIds, stride },
      )
      return queries.all(DURATION, sql, values)
    },
    countFlowsWithin,
  }
