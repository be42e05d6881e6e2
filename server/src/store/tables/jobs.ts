import { operator } from '../../domain/access/principal.ts'
import { isExpected, jobTag } from '../../domain/common/entity-tag.ts'
import type { Put } from '../../domain/common/ports/slices.ts'
import { maySignedBe } from '../../domain/job/job-signatures.ts'
import type {
  JobPut,
  JobPutResult,
  StoredJob,
  StoredJobContent,
  StoredJobVersion,
} from '../../domain/job/ports/jobs.ts'
import { weakensApproval } from '../../domain/rollout/approval.ts'
import { toRunJob } from '../../domain/trigger/launch-run.ts'
import type { RunJob } from '../../domain/trigger/trigger.ts'
import { inBoth, sliced, type Writes } from '../queries.ts'
import { computed, rows, select, text } from '../schema/column.ts'
import { job, jobVersion } from '../schema/tables.ts'
import { missingFile } from './files.ts'
import { findJobUsers } from './job-users.ts'
import { pauseSchedulesOf } from './schedules.ts'
import { missingSecret } from './secrets.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { hasWindow } from './windows.ts'

// Kept as text, with which puts are compared.
const content = computed(jobVersion.fields.content.sql, text())
const updatedBy = jobVersion.fields.createdBy
export const JOB = select({ ...job.fields, content, ...jobVersion.pick('version'), updatedBy })
const SELECT = `SELECT ${JOB} FROM job JOIN job_version ON job_version.version_no = job.version_no` as const
const FIND = `${SELECT} WHERE owner_no = :ownerNo AND job_name = :jobName` as const
const LIST = `
  ${SELECT} WHERE owner_no = :ownerNo AND job_name > :after AND deleted_at IS NULL ORDER BY job_name LIMIT :limit` as const
/** The jobs of all owners. */
export const SELECT_JOBS = `${SELECT} WHERE deleted_at IS NULL` as const
const VERSION = select({
  ...{
    ...job.pick('jobName', 'jobNo'),
    currentNo: computed('job.version_no', job.fields.versionNo),
    content,
  },
  ...jobVersion.pick('versionNo', 'version', 'createdAt', 'createdBy'),
})
// Starts from the index of versions, so that a page is read in order.
const versions = <More extends string>(more: More) =>
  inBoth(
    ({ join }) =>
      `
  SELECT ${VERSION} FROM job_version ${join} job ON job.job_no = job_version.job_no
  WHERE job_version.job_no = (
    SELECT job_no FROM job WHERE owner_no = :ownerNo AND job_name = :jobName AND deleted_at IS NULL) AND ${more}` as const,
  )
const FIND_VERSION = versions('version = :version')
const LIST_VERSIONS = versions('version < :after ORDER BY version DESC LIMIT :limit')
const INSERT_VERSION = `
  INSERT INTO job_version (job_no, version, content, created_at, created_by, secrets, files)
  VALUES (:jobNo, :version, :content, :at, :by, :secrets, :files)
  RETURNING version_no AS "versionNo"`
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
  WHERE job_version.version_no = :jobVersion` as const
const SIGNED = select({ ...job.pick('jobName'), content })
const SIGNED_OF_VERSION = `
  SELECT ${SIGNED} FROM job_version JOIN job ON job.job_no = job_version.job_no
  WHERE job_version.version_no = :jobVersion` as const
const CONTENT = `SELECT ${select({ content })} FROM job_version WHERE version_no = :jobVersion` as const

const maxVersion = 2_147_483_647

/** The fields of a job that a trigger needs. */
export type JobRef = Readonly<RunJob>
type JobRow = ReturnType<typeof JOB.read>

type JobReads =
  | 'getJob'
  | 'listJobs'
  | 'getDocument'
  | 'getSignature'
  | 'getJobOfVersion'
  | 'getJobVersion'
  | 'listJobVersions'

export const jobReads: ReadSteps<JobReads> = {
  async getJob(queries, { ownerNo, jobName }) {
    const row = await queries.get(JOB, FIND, { ownerNo, jobName })
    return row?.deletedAt === null ? toJob(row) : undefined
  },
  async listJobs(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(JOB, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found.map(toJob), limit, ({ jobName }) => jobName)
  },
  async getJobVersion(queries, { ownerNo, jobName, version }) {
    const row = await queries.get(VERSION, FIND_VERSION, { ownerNo, jobName, version })
    return row && toVersion(row)
  },
  async listJobVersions(queries, { ownerNo, jobName, slice: { after = maxVersion, limit } }) {
    const values = { ownerNo, jobName, after, limit: limit + 1 }
    const found = await queries.all(VERSION, LIST_VERSIONS, values)
    return sliced(found.map(toVersion), limit, ({ version }) => version)
  },
  async getJobOfVersion(queries, { jobVersion }) {
    return (await queries.get(select(job.pick('jobName')), OF_VERSION, { jobVersion }))?.jobName
  },
  async getDocument(queries, { jobVersion }) {
    const row = await queries.get(rows({ content: text() }), CONTENT, { jobVersion })
    if (row === undefined) throw new Error(`there is no version ${jobVersion} of a job`)
    const { document, parameters, hasPlaceholders, files } = toContent(row)
    const more = {
      ...(files && { files }),
      ...(parameters && { parameters }),
      ...(hasPlaceholders && { hasPlaceholders }),
    }
    return { document: JSON.stringify(document), ...more }
  },
  async getSignature(queries, { jobVersion }) {
    const row = await queries.get(SIGNED, SIGNED_OF_VERSION, { jobVersion })
    const { signatures } = row ? toContent(row) : {}
    return row && signatures ? { jobName: row.jobName, envelope: signatures } : undefined
  },
}

/** Steps that add or remove names; triggers that use these names must not run in between. */
export const jobWrites: WriteSteps<'putJob' | 'deleteJob'> = {
  async putJob(queries, put) {
    const { ref, ...result } = await putJob(queries, put)
    return result
  },
  async deleteJob(queries, { ownerNo, jobName, at, by = operator, expected, unlessUsed = false }) {
    const before = await queries.get(JOB, FIND, { ownerNo, jobName })
    if (before?.deletedAt !== null) return 'unknown'
    if (!isExpected(expected, jobTag(before))) return 'changed'
    const users = unlessUsed ? await findJobUsers(queries, { ownerNo, jobName }) : undefined
    if (users) return users
    await queries.run(DELETE, { ownerNo, jobName, at })
    const data = { jobName, version: before.version, principal: by }
    queries.resourceChanged('job.deleted', { ownerNo, at, data, before: toAudited(before) })
    await pauseSchedulesOf(queries, { ownerNo, jobName, at })
    return 'deleted'
  },
}

/** Putting the same content again creates no new version. */
export async function putJob(queries: Writes, put: JobPut): Promise<JobPutResult & { ref?: JobRef }> {
  const { ownerNo, jobName, at } = put
  const content = JSON.stringify(put.content)
  const before = await queries.get(JOB, FIND, { ownerNo, jobName })
  const created = before === undefined || before.deletedAt !== null
  if (!isExpected(put.expected, created ? undefined : jobTag(before))) return refused(put)
  const isNew = created || before.content !== content
  const nextVersion = (before?.version ?? 0) + 1
  if (!(await hasWindow(queries, ownerNo, put.content.window))) return { ...refused(put), lacksWindow: true }
  if (put.keepsApproval && before && weakensApproval(toContent(before), put.content))
    return { ...refused(put), weakensApproval: true }
  const lacksSecret = await missingSecret(queries, ownerNo, put.content.secrets)
  if (lacksSecret !== undefined) return { ...refused(put), lacksSecret }
  const lacksFile = await missingFile(queries, ownerNo, put.content.files)
  if (lacksFile !== undefined) return { ...refused(put), lacksFile }
  if (isNew && !maySignedBe(put.content, nextVersion)) return { ...refused(put), nextVersion }
  const { jobNo } =
    before ?? (await queries.one(rows({ jobNo: job.fields.jobNo }), INSERT, { ownerNo, jobName, at }))
  if (isNew) {
    const version = rows({ versionNo: job.fields.versionNo })
    const { versionNo } = await queries.one(version, INSERT_VERSION, {
      jobNo,
      version: nextVersion,
      content,
      at,
      by: put.by ?? null,
      files: put.content.files ? JSON.stringify(put.content.files) : null,
      secrets: put.content.secrets ? JSON.stringify(put.content.secrets) : null,
    })
    await queries.run(UPDATE, { jobNo, versionNo, at })
  }
  const after = await queries.one(JOB, FIND, { ownerNo, jobName })
  if (isNew) {
    const data = { jobName, version: after.version, isNew: created, principal: put.by ?? operator }
    const shown = created ? undefined : toAudited(before as JobRow)
    queries.resourceChanged('job.changed', { ownerNo, at, data, before: shown, after: toAudited(after) })
  }
  return { created, value: toJob(after), ref: toJobRef(after) }
}

function refused({ jobName, content, at }: JobPut): Put<StoredJob> {
  return {
    created: false,
    value: { jobName, version: 0, ...content, createdAt: at, updatedAt: at, updatedBy: null },
    isRefused: true,
  }
}

export function toJobRef(row: JobRow): JobRef {
  return toRunJob(row, toContent(row))
}

function toContent({ content }: { content: string }): StoredJobContent {
  return JSON.parse(content)
}

function toJob(row: JobRow): StoredJob {
  const { jobName, version, createdAt, updatedAt, updatedBy } = row
  return { jobName, version, ...toContent(row), createdAt, updatedAt, updatedBy }
}

/** For the audit, whose entries have a field for the principal. */
function toAudited(row: JobRow): Omit<StoredJob, 'updatedBy'> {
  const { updatedBy: _, ...shown } = toJob(row)
  return shown
}

function toVersion({ content, currentNo, ...row }: ReturnType<typeof VERSION.read>): StoredJobVersion {
  return { ...row, ...toContent({ content }), isCurrent: currentNo === row.versionNo }
}
