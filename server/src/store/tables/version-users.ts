// Users of secrets and files: current versions of jobs, and schedules and unfinished runs by their versions.

import { inBoth, type Queries, type Spelling } from '../queries.ts'
import { number, rows, text } from '../schema/column.ts'
import { unfinishedOn } from './run-fields.ts'

/** Maximum number of each kind, for each name. */
const namedUsers = 20

/** The column of a version with the names that its document uses. */
type Column = 'secrets' | 'files'

/** Some users of a name; runs are unfinished ones. */
type Users = { jobNames: string[]; scheduleNames: string[]; runIds: number[] }

/** A join with the versions of jobs that use any; each name is `used.value`. */
export const versionsUsing = (column: Column, { is, by, join }: Spelling, on: string) =>
  `${join} job_version ${by(`job_version_with_${column}`)} ON ${on} AND job_version.${column} IS NOT NULL
    ${join} ${
      is === 'sqlite'
        ? `json_each(job_version.${column}) AS used ON true`
        : `LATERAL json_array_elements_text(CAST(job_version.${column} AS json)) AS used (value) ON true`
    }` as const

const usersOf = <From extends string>(name: string, from: (spelling: Spelling) => From) =>
  inBoth(
    (spelling) =>
      `
  SELECT "usedName", "userName" FROM (
    SELECT used.value AS "usedName", ${name} AS "userName",
      row_number() OVER (PARTITION BY used.value ORDER BY ${name}) AS position
    FROM ${from(spelling)} AND ${spelling.isIn('used.value', 'names', 'text')}) AS found
  WHERE position <= ${namedUsers} ORDER BY "usedName", position` as const,
  )

const statementsFor = (column: Column) => ({
  jobs: usersOf(
    'job.job_name',
    (spelling) =>
      `job ${versionsUsing(column, spelling, 'job_version.version_no = job.version_no')}
    WHERE job.owner_no = :ownerNo AND job.deleted_at IS NULL` as const,
  ),
  schedules: usersOf('schedule.schedule_name', (spelling) => {
    const content = spelling.is === 'sqlite' ? 'schedule.content' : 'CAST(schedule.content AS json)'
    const pinned = `
      SELECT pinned.version_no FROM job_version AS pinned
      WHERE pinned.job_no = job.job_no AND pinned.version = CAST(${content} ->> 'version' AS integer)`
    return `schedule ${spelling.join} job ON job.owner_no = schedule.owner_no AND job.job_name = schedule.job_name
    ${versionsUsing(column, spelling, `job_version.version_no = coalesce((${pinned}), job.version_no)`)}
    WHERE schedule.owner_no = :ownerNo AND job.deleted_at IS NULL` as const
  }),
  runs: usersOf(
    'run.run_id',
    (spelling) =>
      `run ${spelling.by('run_unfinished')} ${versionsUsing(column, spelling, 'job_version.version_no = run.version_no')}
    WHERE run.owner_no = :ownerNo AND ${unfinishedOn[spelling.is]}` as const,
  ),
})
const statements = { secrets: statementsFor('secrets'), files: statementsFor('files') }
const NAMED = rows({ usedName: text(), userName: text() })
const NUMBERED = rows({ usedName: text(), userName: number() })

export async function readUsers(
  queries: Queries,
  column: Column,
  ownerNo: number,
  names: string[],
): Promise<(name: string) => Users> {
  const wanted = { ownerNo, names }
  if (names.length === 0) return () => ({ jobNames: [], scheduleNames: [], runIds: [] })
  const { jobs, schedules, runs } = statements[column]
  const byJobs = await queries.all(NAMED, jobs, wanted)
  const bySchedules = await queries.all(NAMED, schedules, wanted)
  const byRuns = await queries.all(NUMBERED, runs, wanted)
  const usersIn = <Name>(found: { usedName: string; userName: Name }[], name: string) =>
    found.filter(({ usedName }) => usedName === name).map(({ userName }) => userName)
  return (name) => ({
    jobNames: usersIn(byJobs, name),
    scheduleNames: usersIn(bySchedules, name),
    runIds: usersIn(byRuns, name),
  })
}
