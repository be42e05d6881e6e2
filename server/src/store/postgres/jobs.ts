import type { Store, StoredJob, StoredJobContent } from '../../domain/store.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT job.job_no, job_name, version_no, content, created_at, updated_at, deleted_at
  FROM job JOIN job_version USING (version_no)`
const FIND = `${SELECT} WHERE owner_no = $1 AND job_name = $2`
const LIST = `
  ${SELECT} WHERE owner_no = $1 AND job_name > $2 AND deleted_at IS NULL ORDER BY job_name LIMIT $3`
const INSERT_VERSION = 'INSERT INTO job_version (job_no, content) VALUES ($1, $2) RETURNING version_no'
const INSERT = `
  INSERT INTO job (owner_no, job_name, version_no, created_at, updated_at) VALUES ($1, $2, 0, $3, $3) RETURNING job_no`
const UPDATE = `
  UPDATE job SET version_no = $2, updated_at = $3::bigint, deleted_at = NULL,
    created_at = CASE WHEN deleted_at IS NULL THEN created_at ELSE $3 END
  WHERE job_no = $1`
const DELETE = `
  UPDATE job SET deleted_at = $3 WHERE owner_no = $1 AND job_name = $2 AND deleted_at IS NULL RETURNING job_no`

type JobSteps = Pick<Store, 'putJob' | 'getJob' | 'listJobs' | 'deleteJob'>

export function buildJobSteps(db: Database, catalogue: Catalogue): JobSteps {
  return {
    /** The same content again makes no new version. */
    putJob({ ownerNo, jobName, content: put, at }) {
      const content = JSON.stringify(put)
      return catalogue.change([ownerNo], async (transaction) => {
        const [before] = await transaction.query(FIND, [ownerNo, jobName])
        const created = before === undefined || before.deleted_at !== null
        const [{ job_no: jobNo } = {}] = before
          ? [before]
          : await transaction.query(INSERT, [ownerNo, jobName, at])
        if (created || before.content !== content) {
          const [version] = await transaction.query(INSERT_VERSION, [jobNo, content])
          await transaction.query(UPDATE, [jobNo, version?.version_no, at])
        }
        const [after] = await transaction.query(FIND, [ownerNo, jobName])
        return { created, value: toJob(after as Row) }
      })
    },
    async getJob({ ownerNo, jobName }) {
      const [row] = await db.query(FIND, [ownerNo, jobName])
      return row && row.deleted_at === null ? toJob(row) : undefined
    },
    async listJobs({ ownerNo, slice: { after, limit } }) {
      const rows = await db.query(LIST, [ownerNo, after ?? '', limit + 1])
      return sliced(rows.map(toJob), limit, (job) => job.jobName)
    },
    deleteJob({ ownerNo, jobName, at }) {
      return catalogue.change([ownerNo], async (transaction) => {
        const rows = await transaction.query(DELETE, [ownerNo, jobName, at])
        return rows.length > 0
      })
    },
  }
}

function toJob(row: Row): StoredJob {
  return {
    jobName: row.job_name as string,
    ...(JSON.parse(row.content as string) as StoredJobContent),
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
