import type { Approval, Retry, Rollout } from '@jobcast/contract'
import type { ParameterSchema } from '@jobcast/contract/parameters'
import type { Envelope } from '@jobcast/contract/signature'
import type { ExpectedTags } from '../../common/entity-tag.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'
import type { Policy } from '../../execution/execution.ts'

export type StoredJobContent = {
  description: string
  document: Record<string, unknown>
  expireAfterSeconds: number | null
  timeoutSeconds: number | null
  deadlineSeconds: number | null
  retry: Retry | null
  /** How its runs are released, unless they say so themselves; left out if there is nothing to say. */
  rollout?: Rollout
  /** Its runs wait for the approval of other principals; left out: of none. */
  approval?: Approval
  /** The window in which its executions are offered, unless a run names another. */
  window?: string
  /** Of its executions, unless a run has another; left out: the default. */
  priority?: number
  /** Of its runs; left out if there are none. */
  parameters?: ParameterSchema
  /** Left out by what was stored before there were placeholders, and by documents without one. */
  hasPlaceholders?: true
  /** Names of the secrets that its document uses; left out if there are none. */
  secrets?: string[]
  /** The files that its document names, NAME or NAME@VERSION; left out if there are none. */
  files?: string[]
  /** What its authors have signed. The server only keeps it: devices know whom to trust. */
  signatures?: Envelope
}

export type StoredJob = StoredJobContent & {
  jobName: string
  /** Counts from 1. What is put after the job was deleted goes on counting, so a number never has two meanings. */
  version: number
  createdAt: number
  updatedAt: number
  /** Who put this version. */
  updatedBy: string | null
}

/** What a version says of clocks, retries and releases. */
export type JobPolicy = Policy & { deadlineSeconds: number | null } & Pick<
    StoredJobContent,
    'rollout' | 'approval' | 'window' | 'priority' | 'parameters' | 'hasPlaceholders'
  >

/** It never changes. `versionNo`: its number among those of all jobs, for `getDocument`. */
export type StoredJobVersion = StoredJobContent & {
  jobName: string
  jobNo: number
  versionNo: number
  version: number
  isCurrent: boolean
  createdAt: number
  createdBy: string | null
}

export type JobKey = { ownerNo: number; jobName: string }

/** The name of the job is for devices, which compare it with the signed one. */
export type JobSignature = { jobName: string; envelope: Envelope }

export type JobPut = {
  ownerNo: number
  jobName: string
  content: StoredJobContent
  at: number
  /** Who puts it; left out: the operator. */
  by?: string
  expected?: ExpectedTags
  /** Refused if its runs would need fewer approvals than before, also before it was deleted. */
  keepsApproval?: true
}

/** Of a version of a job: the document as JSON text, and what has to be filled in. */
type StoredDocument = { document: string } & Pick<
  StoredJobContent,
  'parameters' | 'hasPlaceholders' | 'files'
>

/** What needs a job, some of each: schedules, and runs with executions that wait. */
export type JobUsers = { scheduleNames: string[]; runIds: number[] }

/** `changed`: it is not one of the expected. With users: they need it. */
type JobDeletion = 'deleted' | 'unknown' | 'changed' | JobUsers

/**
 * `nextVersion`: refused, because its signatures are of another version than this one, which it would become.
 * `lacksWindow`: refused, because there is no such window. `lacksSecret`: because this secret does not exist, `lacksFile` likewise.
 * `weakensApproval`: because it may not.
 */
export type JobPutResult = Put<StoredJob> & {
  nextVersion?: number
  lacksWindow?: true
  lacksSecret?: string
  lacksFile?: string
  weakensApproval?: true
}

export type JobStore = {
  putJob(put: JobPut): Promise<JobPutResult>
  getJob(job: JobKey): Promise<StoredJob | undefined>
  listJobs(list: OwnerList<string>): Promise<Sliced<StoredJob, string>>
  /** Executions of the job that are under way go on. `unlessUsed`: not while something needs it. */
  deleteJob(
    job: JobKey & { at: number; by?: string; expected?: ExpectedTags; unlessUsed?: boolean },
  ): Promise<JobDeletion>
  /** Undefined: nothing needs it. */
  findJobUsers(job: JobKey): Promise<JobUsers | undefined>
  /** Undefined: the job or this version of it is not there. */
  getJobVersion(job: JobKey & { version: number }): Promise<StoredJobVersion | undefined>
  /** Newest first; those from before the job was deleted and put again are among them. */
  listJobVersions(list: OwnerList<number> & { jobName: string }): Promise<Sliced<StoredJobVersion, number>>
  getDocument(job: { jobVersion: number }): Promise<StoredDocument>
  /** What the authors of a version of a job have signed; undefined if nothing. */
  getSignature(job: { jobVersion: number }): Promise<JobSignature | undefined>
  /** The name of the job that a version is of. */
  getJobOfVersion(job: { jobVersion: number }): Promise<string | undefined>
}
