import type { DatabaseSync } from 'node:sqlite'
import type { JobPut, Put, Slice, Sliced, StoredJob, StoredJobContent } from '../../domain/store.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT job.job_no, job_name, version_no, content, created_at, updated_at, deleted_at
  FROM job JOIN job_version USING (version_no)`
const FIND = `${SELECT} WHERE owner_no = ? AND job_name = ?`
const LIST = `${SELECT} WHERE owner_no = ? AND job_name > ? AND deleted_at IS NULL ORDER BY job_name LIMIT ?`
const ALL = `
  SELECT owner_no, job_name, job.job_no, version_no, content FROM job JOIN job_version USING (version_no)
  WHERE deleted_at IS NULL`
const INSERT_VERSION = 'INSERT INTO job_version (job_no, content) VALUES (?, ?) RETURNING version_no'
const INSERT = `
  INSERT INTO job (owner_no, job_name, version_no, created_at, updated_at) VALUES (?, ?, 0, ?, ?) RETURNING job_no`
const UPDATE = `
  UPDATE job SET version_no = :versionNo, updated_at = :at, deleted_at = NULL,
    created_at = iif(deleted_at IS NULL, created_at, :at)
  WHERE job_no = :jobNo`
const DELETE = 'UPDATE job SET deleted_at = ? WHERE owner_no = ? AND job_name = ? AND deleted_at IS NULL'

/** What a trigger needs to know of a job. */
export type JobRef = {
  readonly jobNo: number
  readonly versionNo: number
  readonly jobName: string
  readonly expireAfterSeconds: number | null
  readonly deadlineSeconds: number | null
}
export type JobKey = { ownerNo: number; jobName: string }

export function prepareJobs(db: DatabaseSync) {
  const find = db.prepare(FIND)
  const list = db.prepare(LIST)
  const all = db.prepare(ALL)
  const insertVersion = db.prepare(INSERT_VERSION)
  const insert = db.prepare(INSERT)
  const update = db.prepare(UPDATE)
  const remove = db.prepare(DELETE)

  return {
    /** The same content again makes no new version. */
    putJob(put: JobPut): Put<StoredJob> & { ref: JobRef } {
      const { ownerNo, jobName, at } = put
      const content = JSON.stringify(put.content)
      const before = find.get(ownerNo, jobName)
      const created = before === undefined || before.deleted_at !== null
      const jobNo = (before ?? insert.get(ownerNo, jobName, at, at))?.job_no as number
      if (created || before.content !== content) {
        const versionNo = insertVersion.get(jobNo, content)?.version_no as number
        update.run({ jobNo, versionNo, at })
      }
      const after = find.get(ownerNo, jobName) as Row
      return { created, value: toJob(after), ref: toRef(after) }
    },
    getJob({ ownerNo, jobName }: JobKey): StoredJob | undefined {
      const row = find.get(ownerNo, jobName)
      return row && row.deleted_at === null ? toJob(row) : undefined
    },
    listJobs(input: { ownerNo: number; slice: Slice<string> }): Sliced<StoredJob, string> {
      const { after, limit } = input.slice
      const rows = list.all(input.ownerNo, after ?? '', limit + 1)
      return sliced(rows.map(toJob), limit, (job) => job.jobName)
    },
    deleteJob({ ownerNo, jobName, at }: JobKey & { at: number }): boolean {
      return remove.run(at, ownerNo, jobName).changes > 0
    },
    /** For the catalogue, at start. */
    *allJobRefs(): Generator<JobRef & { ownerNo: number }> {
      for (const row of all.iterate()) {
        yield { ownerNo: row.owner_no as number, ...toRef(row) }
      }
    },
  }
}

function toRef(row: Row): JobRef {
  const { expireAfterSeconds, deadlineSeconds } = toContent(row)
  return {
    jobNo: row.job_no as number,
    versionNo: row.version_no as number,
    jobName: row.job_name as string,
    expireAfterSeconds,
    deadlineSeconds,
  }
}

/** What was stored before a policy existed has none. */
function toContent(row: Row): StoredJobContent {
  return { retry: null, ...JSON.parse(row.content as string) }
}

function toJob(row: Row): StoredJob {
  return {
    jobName: row.job_name as string,
    ...toContent(row),
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
