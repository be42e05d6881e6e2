import { isExpected, jobTag } from '../../domain/entity-tag.ts'
import type { RunJob } from '../../domain/launch-run.ts'
import type { JobPut, StoredJob, StoredJobContent } from '../../domain/ports/jobs.ts'
import type { Put } from '../../domain/ports/slices.ts'
import { type Queries, sliced } from '../queries.ts'
import { computed, rows, select, text } from '../schema/column.ts'
import { job, jobVersion } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

// As text: what is put is compared with it.
const content = computed(jobVersion.fields.content.sql, text())
export const JOB = select({ ...job.fields, content })
const SELECT = `SELECT ${JOB} FROM job JOIN job_version ON job_version.version_no = job.version_no`
const FIND = `${SELECT} WHERE owner_no = :ownerNo AND job_name = :jobName`
const LIST = `
  ${SELECT} WHERE owner_no = :ownerNo AND job_name > :after AND deleted_at IS NULL ORDER BY job_name LIMIT :limit`
/** Those of all owners. */
export const SELECT_JOBS = `${SELECT} WHERE deleted_at IS NULL`
const INSERT_VERSION =
  'INSERT INTO job_version (job_no, content) VALUES (:jobNo, :content) RETURNING version_no AS "versionNo"'
const INSERT = `
  INSERT INTO job (owner_no, job_name, version_no, created_at, updated_at) VALUES (:ownerNo, :jobName, 0, :at, :at)
  RETURNING job_no AS "jobNo"`
const UPDATE = `
  UPDATE job SET version_no = :versionNo, updated_at = :at, deleted_at = NULL,
    created_at = CASE WHEN deleted_at IS NULL THEN created_at ELSE :at END
  WHERE job_no = :jobNo`
const DELETE = `
  UPDATE job SET deleted_at = :at WHERE owner_no = :ownerNo AND job_name = :jobName AND deleted_at IS NULL`
const OF_VERSION = `
  SELECT ${select(job.pick('jobName'))} FROM job_version JOIN job ON job.job_no = job_version.job_no
  WHERE job_version.version_no = :jobVersion`
const SIGNED = select({ ...job.pick('jobName'), content })
const SIGNED_OF_VERSION = `
  SELECT ${SIGNED} FROM job_version JOIN job ON job.job_no = job_version.job_no
  WHERE job_version.version_no = :jobVersion`
const CONTENT = `SELECT ${select({ content })} FROM job_version WHERE version_no = :jobVersion`

/** What a trigger needs to know of a job. */
export type JobRef = Readonly<RunJob>
type JobRow = ReturnType<typeof JOB.read>

export const jobReads: ReadSteps<'getJob' | 'listJobs' | 'getDocument' | 'getSignature' | 'getJobOfVersion'> = {
  async getJob(queries, { ownerNo, jobName }) {
    const row = await queries.get(JOB, FIND, { ownerNo, jobName })
    return row?.deletedAt === null ? toJob(row) : undefined
  },
  async listJobs(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(JOB, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found.map(toJob), limit, ({ jobName }) => jobName)
  },
  async getJobOfVersion(queries, { jobVersion }) {
    return (await queries.get(select(job.pick('jobName')), OF_VERSION, { jobVersion }))?.jobName
  },
  async getDocument(queries, { jobVersion }) {
    const row = await queries.get(rows({ content: text() }), CONTENT, { jobVersion })
    if (row === undefined) throw new Error(`there is no version ${jobVersion} of a job`)
    return JSON.stringify(toContent(row).document)
  },
  async getSignature(queries, { jobVersion }) {
    const row = await queries.get(SIGNED, SIGNED_OF_VERSION, { jobVersion })
    const { signatures } = row ? toContent(row) : {}
    return row && signatures ? { jobName: row.jobName, envelope: signatures } : undefined
  },
}

/** Steps that change which names there are; whoever triggers by these names must not get in between. */
export const jobWrites: WriteSteps<'putJob' | 'deleteJob'> = {
  async putJob(queries, put) {
    const { ref, ...result } = await putJob(queries, put)
    return result
  },
  async deleteJob(queries, { ownerNo, jobName, at }) {
    return (await queries.run(DELETE, { ownerNo, jobName, at })) > 0
  },
}

/** The same content again makes no new version. */
export async function putJob(queries: Queries, put: JobPut): Promise<Put<StoredJob> & { ref?: JobRef }> {
  const { ownerNo, jobName, at } = put
  const content = JSON.stringify(put.content)
  const before = await queries.get(JOB, FIND, { ownerNo, jobName })
  const created = before === undefined || before.deletedAt !== null
  if (!isExpected(put.expected, created ? undefined : jobTag(toContent(before)))) return refused(put)
  const { jobNo } =
    before ?? (await queries.one(rows({ jobNo: job.fields.jobNo }), INSERT, { ownerNo, jobName, at }))
  if (created || before.content !== content) {
    const version = rows({ versionNo: job.fields.versionNo })
    const { versionNo } = await queries.one(version, INSERT_VERSION, { jobNo, content })
    await queries.run(UPDATE, { jobNo, versionNo, at })
  }
  const after = await queries.one(JOB, FIND, { ownerNo, jobName })
  return { created, value: toJob(after), ref: toJobRef(after) }
}

function refused({ jobName, content, at }: JobPut): Put<StoredJob> {
  return { created: false, value: { jobName, ...content, createdAt: at, updatedAt: at }, isRefused: true }
}

export function toJobRef(row: JobRow): JobRef {
  const { expireAfterSeconds, deadlineSeconds, rollout, approval } = toContent(row)
  const { jobNo, versionNo } = row
  const ref = { jobNo, versionNo, expireAfterSeconds, deadlineSeconds }
  return rollout || approval ? { ...ref, ...(rollout && { rollout }), ...(approval && { approval }) } : ref
}

/** What was stored before a policy existed has none. */
function toContent({ content }: { content: string }): StoredJobContent {
  return { retry: null, ...JSON.parse(content) }
}

function toJob(row: JobRow): StoredJob {
  const { jobName, createdAt, updatedAt } = row
  return { jobName, ...toContent(row), createdAt, updatedAt }
}
