import type { Retry, Rollout } from '@jobcast/contract'
import type { Envelope } from '@jobcast/contract/signature'
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
  /** What its authors have signed. The server only keeps it: devices know whom to trust. */
  signatures?: Envelope
}

export type StoredJob = StoredJobContent & { jobName: string; createdAt: number; updatedAt: number }

export type JobKey = { ownerNo: number; jobName: string }

/** The name of the job is for devices, which compare it with the signed one. */
export type JobSignature = { jobName: string; envelope: Envelope }

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
  /** What the authors of a version of a job have signed; undefined if nothing. */
  getSignature(job: { jobVersion: number }): Promise<JobSignature | undefined>
  /** The name of the job that a version is of. */
  getJobOfVersion(job: { jobVersion: number }): Promise<string | undefined>
}
