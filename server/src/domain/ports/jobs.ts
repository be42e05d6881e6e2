import type { Retry, Rollout } from '@jobcast/contract'
import type { ExpectedTags } from '../entity-tag.ts'
import type { OwnerList, Put, Sliced } from './slices.ts'

export type StoredJobContent = {
  description: string
  document: Record<string, unknown>
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: Retry | null
  /** How its runs are released, unless they say so themselves; left out if there is nothing to say. */
  rollout?: Rollout
  /** Its runs wait for the approval of another principal. */
  approval?: true
  /** The window in which its executions are offered, unless a run names another. */
  window?: string
}

export type StoredJob = StoredJobContent & { jobName: string; createdAt: number; updatedAt: number }

export type JobKey = { ownerNo: number; jobName: string }

export type JobPut = {
  ownerNo: number
  jobName: string
  content: StoredJobContent
  at: number
  expected?: ExpectedTags
}

export type JobStore = {
  putJob(put: JobPut): Promise<Put<StoredJob>>
  getJob(job: JobKey): Promise<StoredJob | undefined>
  listJobs(list: OwnerList<string>): Promise<Sliced<StoredJob, string>>
  /** Executions of the job that are under way go on. */
  deleteJob(job: JobKey & { at: number }): Promise<boolean>
  /** The document of a version of a job, as JSON text. */
  getDocument(job: { jobVersion: number }): Promise<string>
  /** The name of the job that a version is of. */
  getJobOfVersion(job: { jobVersion: number }): Promise<string | undefined>
}
