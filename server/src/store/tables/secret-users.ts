// What uses secrets: current versions of jobs, schedules by the version that they run, and unfinished runs by theirs.

import type { SecretUsers } from '../../domain/secret/ports/secrets.ts'
import { inBoth, type Queries, type Spelling, type Writes } from '../queries.ts'
import { number, rows, text } from '../schema/column.ts'
import { unfinishedOn } from './run-fields.ts'

/** Of each kind, for each secret. */
const namedUsers = 20
const purgedAtOnce = 500

/** The versions of jobs that use secrets; to be joined, with each name as `used.value`. */
const versions = ({ is, by, join }: Spelling, on: string) =>
  `${join} job_version ${by('job_version_with_secrets')} ON ${on} AND job_version.secrets IS NOT NULL
    ${join} ${
      is === 'sqlite'
        ? 'json_each(job_version.secrets) AS used ON true'
        : 'LATERAL json_array_elements_text(CAST(job_version.secrets AS json)) AS used (value) ON true'
    }` as const

const usersOf = <From extends string>(name: string, from: (spelling: Spelling) => From) =>
  inBoth(
    (spelling) =>
      `
  SELECT "secretName", "userName" FROM (
    SELECT used.value AS "secretName", ${name} AS "userName",
      row_number() OVER (PARTITION BY used.value ORDER BY ${name}) AS position
    FROM ${from(spelling)} AND ${spelling.isIn('used.value', 'secretNames', 'text')}) AS found
  WHERE position <= ${namedUsers} ORDER BY "secretName", position` as const,
  )

const JOBS = usersOf(
  'job.job_name',
  (spelling) =>
    `job ${versions(spelling, 'job_version.version_no = job.version_no')}
    WHERE job.owner_no = :ownerNo AND job.deleted_at IS NULL` as const,
)
const SCHEDULES = usersOf('schedule.schedule_name', (spelling) => {
  const content = spelling.is === 'sqlite' ? 'schedule.content' : 'CAST(schedule.content AS json)'
  const pinned = `
      SELECT pinned.version_no FROM job_version AS pinned
      WHERE pinned.job_no = job.job_no AND pinned.version = CAST(${content} ->> 'version' AS integer)`
  return `schedule ${spelling.join} job ON job.owner_no = schedule.owner_no AND job.job_name = schedule.job_name
    ${versions(spelling, `job_version.version_no = coalesce((${pinned}), job.version_no)`)}
    WHERE schedule.owner_no = :ownerNo AND job.deleted_at IS NULL` as const
})
const RUNS = usersOf(
  'run.run_id',
  (spelling) =>
    `run ${spelling.by('run_unfinished')} ${versions(spelling, 'job_version.version_no = run.version_no')}
    WHERE run.owner_no = :ownerNo AND ${unfinishedOn[spelling.is]}` as const,
)
const NAMED = rows({ secretName: text(), userName: text() })
const NUMBERED = rows({ secretName: text(), userName: number() })

const FORMER = rows({ ownerNo: number(), secretName: text(), version: number() })
// What was replaced before the oldest unfinished run that uses it was made was handed out to none.
const LIST_FORMER = inBoth(
  (spelling) => `
  SELECT owner_no AS "ownerNo", secret_name AS "secretName", version FROM secret
  WHERE replaced_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM run ${spelling.by('run_unfinished')}
      ${versions(spelling, 'job_version.version_no = run.version_no')}
    WHERE run.owner_no = secret.owner_no AND ${unfinishedOn[spelling.is]}
      AND used.value = secret.secret_name AND run.launched_at <= secret.replaced_at)
  LIMIT ${purgedAtOnce}`,
)
const PURGE = `
  DELETE FROM secret
  WHERE owner_no = :ownerNo AND secret_name = :secretName AND version = :version AND replaced_at IS NOT NULL`

export async function readUsers(
  queries: Queries,
  ownerNo: number,
  secretNames: string[],
): Promise<(secretName: string) => SecretUsers> {
  const wanted = { ownerNo, secretNames }
  if (secretNames.length === 0) return () => ({ jobNames: [], scheduleNames: [], runIds: [] })
  const jobs = await queries.all(NAMED, JOBS, wanted)
  const schedules = await queries.all(NAMED, SCHEDULES, wanted)
  const runs = await queries.all(NUMBERED, RUNS, wanted)
  const namesOf = <Name>(found: { secretName: string; userName: Name }[], secretName: string) =>
    found.filter((each) => each.secretName === secretName).map(({ userName }) => userName)
  return (secretName) => ({
    jobNames: namesOf(jobs, secretName),
    scheduleNames: namesOf(schedules, secretName),
    runIds: namesOf(runs, secretName),
  })
}

/** Former values that no unfinished execution can have got. */
export async function purgeFormer(queries: Writes): Promise<boolean> {
  const found = await queries.all(FORMER, LIST_FORMER)
  for (const former of found) await queries.run(PURGE, former)
  return found.length === purgedAtOnce
}
