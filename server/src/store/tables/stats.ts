// Counts over time. Both statements read a bounded number of rows by id: every n-th execution of a large run, or of many runs.

import type { Flow } from '../../domain/device/ports/fleet.ts'
import type {
  Duration,
  LaunchedCounts,
  LaunchedRun,
  StatsQuestion,
  StoredStats,
} from '../../domain/device/ports/stats.ts'
import { columnOf, inBoth, type Queries, type Sql, type Values } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { job, run, transition } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { countFields, jobValues, OF_JOB, ofJobs, pickCounts } from './run-fields.ts'
import type { ReadSteps } from './step.ts'

const FLOW = rows({ ...transition.pick('from', 'to'), stepNo: number(), count: number() })
const RUN_FLOWS = inBoth(
  ({ join }) => `
  WITH RECURSIVE sampled (id, behind) AS (
    SELECT first_execution_id, first_execution_id + total FROM run WHERE owner_no = :ownerNo AND run_id = :runId
    UNION ALL
    SELECT id + CAST(:stride AS bigint), behind FROM sampled WHERE id + CAST(:stride AS bigint) < behind)
  SELECT (at - CAST(:from AS bigint)) / CAST(:stepMs AS bigint) AS "stepNo", from_state AS "from", to_state AS "to",
    count(*) AS count
  FROM sampled ${join} transition ON transition.execution_id = sampled.id
  GROUP BY 1, 2, 3`,
)

const AT = select(run.pick('runId', 'launchedAt'))
const FROM_ID = `
  SELECT ${AT} FROM run WHERE owner_no = :ownerNo AND run_id >= :id ORDER BY run_id LIMIT 1` as const
const BOUNDS = `
  SELECT coalesce((SELECT run_id FROM run WHERE owner_no = :ownerNo ORDER BY run_id LIMIT 1), 1) AS first,
    coalesce((SELECT run_id FROM run WHERE owner_no = :ownerNo ORDER BY run_id DESC LIMIT 1), 0) AS last`

const sums = Object.entries(countFields).map(([state, field]) => `sum(${columnOf(field)}) AS "${state}"`)
/** Of which jobs; undefined: of all. */
type OfJobs = Pick<StatsQuestion, 'jobName' | 'jobs'>

const chosen = ({ jobName, jobs }: OfJobs) =>
  `
    SELECT * FROM run
    WHERE run.owner_no = :ownerNo AND run.run_id >= :first AND run.run_id < :behind ${jobName === undefined ? '' : `AND ${OF_JOB}`}
      ${jobs === undefined ? '' : `AND ${ofJobs(jobs)}`}
      AND run.launched_at >= :from AND run.launched_at < :to
    ORDER BY run.run_id DESC LIMIT :maxRuns` as const
const STEP_NO = '(launched_at - CAST(:from AS bigint)) / CAST(:stepMs AS bigint)'
const LAUNCHED = rows({
  ...job.pick('jobName'),
  ...{ stepNo: number(), total: number(), runs: number(), oldest: number() },
  ...countFields,
})
const launchedIn = (wanted: OfJobs) =>
  inBoth(
    ({ join }) => `
  SELECT ${STEP_NO} AS "stepNo", job_name AS "jobName", sum(total) AS total, count(*) AS runs,
    min(launched_at) AS oldest, ${sums.join(', ')}
  FROM (${chosen(wanted)}) AS chosen ${join} job ON job.job_no = chosen.job_no
  GROUP BY 1, 2`,
  )

const LAUNCHED_RUN = rows({ ...run.pick('runId', 'launchedAt', 'total'), ...job.pick('jobName') })
const launchedRuns = (wanted: OfJobs) =>
  inBoth(
    ({ join }) => `
  SELECT run_id AS "runId", launched_at AS "launchedAt", total, job_name AS "jobName"
  FROM (${chosen(wanted)}) AS chosen ${join} job ON job.job_no = chosen.job_no ORDER BY run_id DESC`,
  )

const DURATION = rows({ ...job.pick('jobName'), stepNo: number(), ms: number() })
const STRIDE = 'CAST(:stride AS bigint)'
const FIRST_SAMPLED = `(first_execution_id + ${STRIDE} - 1) / ${STRIDE} * ${STRIDE}` as const
const durationsIn = (wanted: OfJobs) =>
  inBoth(({ is, join }) => {
    // Finds each by its id: in a new database, PostgreSQL expects so few executions that it would read all of them.
    const each =
      is === 'sqlite'
        ? `${join} execution ON execution.execution_id = sampled.id`
        : 'CROSS JOIN LATERAL (SELECT * FROM execution WHERE execution_id = sampled.id LIMIT 1) AS execution'
    return `
  WITH RECURSIVE sampled (step_no, job_no, id, behind) AS (
    SELECT ${STEP_NO}, job_no, ${FIRST_SAMPLED}, first_execution_id + total FROM (${chosen(wanted)}) AS chosen
    WHERE ${FIRST_SAMPLED} < first_execution_id + total
    UNION ALL
    SELECT step_no, job_no, id + ${STRIDE}, behind FROM sampled WHERE id + ${STRIDE} < behind)
  SELECT step_no AS "stepNo", job_name AS "jobName", finished_at - started_at AS ms
  FROM sampled ${each} ${join} job ON job.job_no = sampled.job_no
  WHERE state = 'SUCCEEDED' AND started_at IS NOT NULL`
  })

export const statsReads: ReadSteps<'countRunFlows'> = {
  countRunFlows: async (queries, question): Promise<Flow[]> =>
    queries.all(FLOW, RUN_FLOWS, partOf(RUN_FLOWS, question)),
}

export const statsSnapshots: ReadSteps<'readStats' | 'listLaunchedRuns'> = {
  async readStats(queries, question): Promise<StoredStats> {
    const { jobs, ...asked } = question
    const { ownerNo, from, to, maxRuns, maxDurations } = asked
    const first = await findRunAt(queries, ownerNo, from)
    const behind = await findRunAt(queries, ownerNo, to)
    const values: Values = { ...asked, ...jobValues(jobs), first, behind }
    const launchedSql: Sql = launchedIn(question)
    const found = await queries.all(LAUNCHED, launchedSql, values)
    const runs = found.reduce((sum, group) => sum + group.runs, 0)
    const oldest = Math.min(...found.map((group) => group.oldest))
    const launched = found.map(
      (row): LaunchedCounts => ({
        stepNo: row.stepNo,
        jobName: row.jobName,
        total: row.total,
        counts: pickCounts(row),
      }),
    )
    const executions = launched.reduce((sum, { total }) => sum + total, 0)
    const stride = Math.max(1, Math.ceil(executions / maxDurations))
    const sampled: Sql = durationsIn(question)
    const given = { ...values, stride }
    const durations: Duration[] = await queries.all(DURATION, sampled, given)
    return { launched, durations, completeFrom: runs < maxRuns ? undefined : oldest }
  },
  async listLaunchedRuns(queries, question) {
    const { jobs, maxExecutions, ...asked } = question
    const { ownerNo, from, to, maxRuns } = asked
    const first = await findRunAt(queries, ownerNo, from)
    const behind = await findRunAt(queries, ownerNo, to)
    const values: Values = { ...asked, ...jobValues(jobs), first, behind }
    const sql: Sql = launchedRuns(question)
    const found = await queries.all(LAUNCHED_RUN, sql, values)
    const runs: LaunchedRun[] = []
    let executions = 0
    for (const each of found) {
      executions += each.total
      if (executions > maxExecutions && runs.length > 0) return { runs, isComplete: false }
      runs.push(each)
    }
    return { runs, isComplete: found.length < maxRuns }
  },
}

/** The first run launched at this instant or later. Uses a binary search, because there is no index by time. */
async function findRunAt(queries: Queries, ownerNo: number, at: number): Promise<number> {
  const bounds = rows({ first: number(), last: number() })
  let { first: low, last: high } = await queries.one(bounds, BOUNDS, { ownerNo })
  high += 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const run = await queries.get(AT, FROM_ID, { ownerNo, id: middle })
    if (run === undefined || run.launchedAt >= at) high = middle
    else low = run.runId + 1
  }
  return low
}
