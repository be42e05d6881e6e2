// The time limits of one execution, and the holders during which they did not run.

import { laterBy } from '../../domain/common/instants.ts'
import { Holders } from '../holders.ts'
import { LIVE, liveJoins } from '../live-executions.ts'
import { inBoth } from '../queries.ts'
import { computed, orNull, select, steady } from '../schema/column.ts'
import { jobVersion, run } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

const ONE = inBoth(
  ({ join }) => `
  SELECT ${LIVE} FROM execution ${liveJoins(join)}
  WHERE execution_id = :jobExecutionId AND execution.owner_no = :ownerNo`,
)
const OF_RUN = select({
  ...run.pick('expireAt'),
  ...jobVersion.pick('content'),
  countsFrom: computed(
    `(SELECT counts_from FROM rollout_release WHERE rollout_release.run_id = run.run_id
      AND rollout_release.first_execution_id <= :jobExecutionId AND last_execution_id >= :jobExecutionId)`,
    orNull(steady()),
  ),
})
const RUN = inBoth(
  ({ join }) =>
    `
  SELECT ${OF_RUN} FROM run ${join} job_version ON job_version.version_no = run.version_no
  WHERE run.run_id = :runId AND :jobExecutionId > 0` as const,
)

export const timeLimitReads: ReadSteps<'getTimeLimits'> = {
  async getTimeLimits(queries, { ownerNo, jobExecutionId }) {
    const live = await queries.get(LIVE, ONE, { ownerNo, jobExecutionId })
    const found = live && (await queries.get(OF_RUN, RUN, { runId: live.runId, jobExecutionId }))
    if (live === undefined || found === undefined) return undefined
    const { expireAfterSeconds = null, deadlineSeconds = null } = found.content
    const { expireAt } = found
    const sinceLaunch =
      expireAt === null || expireAfterSeconds === null ? null : laterBy(-expireAfterSeconds * 1000, expireAt)
    const holders = new Holders(queries)
    await holders.read([live])
    return {
      life: live.life,
      policy: { expireAfterSeconds, deadlineSeconds },
      countsFrom: found.countsFrom ?? sinceLaunch,
      holder: holders.of(live),
      changes: holders.changes,
    }
  },
}
