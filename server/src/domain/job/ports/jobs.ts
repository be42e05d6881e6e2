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
  /** The rollout of its runs, unless a run has its own. */
  rollout?: Rollout
  /** Its runs wait for the approval of other principals; by default they need none. */
  approval?: Approval
  /** The window in which its executions are offered, unless a run names another. */
  window?: string
  /** The priority of its executions, unless a run has its own. */
  priority?: number
  /** The parameters of its runs. */
  parameters?: ParameterSchema
  /** Missing for documents without placeholders, including those stored before placeholders existed. */
  hasPlaceholders?: true
  /** Names of the secrets that its document uses. */
  secrets?: string[]
  /** The files that its document names, NAME or NAME@VERSION. */
  files?: string[]
  /** Signatures of its authors. The server only stores them; devices verify them with their own keys. */
  signatures?: Envelope
}

export type StoredJob = StoredJobContent & {
  jobName: string
  /** Counts from 1. If the job is deleted and put again, counting continues, so numbers are never reused. */
  version: number
  createdAt: number
  updatedAt: number
  /** The principal that put this version. */
  updatedBy: string | null
}

/** The timers, retry policy and rollout of a version. */
export type JobPolicy = Policy & { deadlineSeconds: number | null } & Pick<
    StoredJobContent,
    'rollout' | 'approval' | 'window' | 'priority' | 'parameters' | 'hasPlaceholders'
  >

/** Immutable. `versionNo`: its number among the versions of all jobs, for `getDocument`. */
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

/** Devices compare the name of the job with the signed one. */
export type JobSignature = { jobName: string; envelope: Envelope }

export type JobPut = {
  ownerNo: number
  jobName: string
  content: StoredJobContent
  at: number
  /** The principal; undefined: the operator. */
  by?: string
  expected?: ExpectedTags
  /** Refused if its runs would need fewer approvals than before, also compared with a deleted job of this name. */
  keepsApproval?: true
}

/** The document of a version as JSON text, and the values to fill in. */
type StoredDocument = { document: string } & Pick<
  StoredJobContent,
  'parameters' | 'hasPlaceholders' | 'files'
>

/** Some users of a job of each kind: schedules, and runs with waiting executions. */
export type JobUsers = { scheduleNames: string[]; runIds: number[] }

/** `changed`: the precondition does not hold. With users: the job is in use. */
type JobDeletion = 'deleted' | 'unknown' | 'changed' | JobUsers

/**
 * Refused puts: `nextVersion`: the job would get this version, but its signatures are for another one. `lacksWindow`: the
 * window does not exist. `lacksSecret`, `lacksFile`: this secret or file does not exist. `weakensApproval`: the put requires
 * fewer approvals, and the caller may not do that.
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
  /** Executions of the job that are in progress continue. `unlessUsed`: refused while something needs it. */
  deleteJob(
    job: JobKey & { at: number; by?: string; expected?: ExpectedTags; unlessUsed?: boolean },
  ): Promise<JobDeletion>
  /** Undefined: nothing needs it. */
  findJobUsers(job: JobKey): Promise<JobUsers | undefined>
  /** Undefined: no such job or version. */
  getJobVersion(job: JobKey & { version: number }): Promise<StoredJobVersion | undefined>
  /** Newest first, including versions from before the job was deleted and put again. */
  listJobVersions(list: OwnerList<number> & { jobName: string }): Promise<Sliced<StoredJobVersion, number>>
  getDocument(job: { jobVersion: number }): Promise<StoredDocument>
  /** The signatures of a version; undefined if there are none. */
  getSignature(job: { jobVersion: number }): Promise<JobSignature | undefined>
  /** The name of the job of a version. */
  getJobOfVersion(job: { jobVersion: number }): Promise<string | undefined>
}
