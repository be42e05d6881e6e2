// Versions of jobs: each change creates a new version, and versions never change.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { ExpectedTags } from '../common/entity-tag.ts'
import { notFound } from '../common/not-found.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import { heldAsNow } from './held-as-now.ts'
import { getJob, type JobDeps, storeJob } from './job.ts'
import type { StoredJob, StoredJobContent, StoredJobVersion } from './ports/jobs.ts'

export async function listJobVersions(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  slice: Slice<number>,
): Promise<Sliced<StoredJobVersion, number>> {
  await getJob(deps, caller, jobName)
  return deps.store.listJobVersions({ ownerNo: caller.ownerNo, jobName, slice })
}

export async function getJobVersion(
  deps: Pick<JobDeps, 'store'>,
  { ownerNo }: Caller,
  jobName: string,
  version: number,
): Promise<StoredJobVersion> {
  const found = await deps.store.getJobVersion({ ownerNo, jobName, version })
  if (found !== undefined) return found
  const job = await deps.store.getJob({ ownerNo, jobName })
  if (job === undefined) throw notFound('J-301', jobName)
  throw new ApiError('J-313', { detail: `The job ${JSON.stringify(jobName)} has no version ${version}.` })
}

/** The requested version, with approval and window of the current one; by default the current version. */
export async function requireVersion(
  deps: Pick<JobDeps, 'store'>,
  caller: Caller,
  jobName: string,
  version: number | undefined,
): Promise<StoredJobVersion> {
  return (await requireVersions(deps, caller, jobName, version)).job
}

/** The same, also with the number of the current version. */
export async function requireVersions(
  deps: Pick<JobDeps, 'store'>,
  caller: Caller,
  jobName: string,
  version: number | undefined,
): Promise<{ job: StoredJobVersion; currentNo: number }> {
  const { ownerNo } = caller
  const slice = { after: undefined, limit: 1 }
  const { items } = await deps.store.listJobVersions({ ownerNo, jobName, slice })
  const [current] = items
  if (current === undefined) throw notFound('J-301', jobName)
  const currentNo = current.versionNo
  if (version === undefined || version === current.version) return { job: current, currentNo }
  return { job: heldAsNow(await getJobVersion(deps, caller, jobName, version), current), currentNo }
}

/** Creates a new version with the content of an earlier one, unless the current one is equal. */
export async function restoreJobVersion(
  deps: JobDeps,
  caller: Caller,
  { jobName, version }: { jobName: string; version: number },
  ifMatch: { expected?: ExpectedTags },
): Promise<Put<StoredJob>> {
  const found = await getJobVersion(deps, caller, jobName, version)
  // The signature is for the earlier version, and devices would reject the job without it.
  if (found.signatures && !found.isCurrent) throw new ApiError('J-316')
  // A job that is deleted concurrently must not be created again.
  const restoring = storeJob(deps, caller, jobName, contentOf(found), { expected: ['*'], ...ifMatch })
  return restoring.catch((error: unknown) => {
    const isDeleted = error instanceof ApiError && error.code === 'J-312' && ifMatch.expected === undefined
    throw isDeleted ? new ApiError('J-301') : error
  })
}

/** Fields are in the order of a put, because stored contents are compared as text. */
function contentOf(version: StoredJobVersion): StoredJobContent {
  const { jobName, jobNo, versionNo, version: number, isCurrent, createdAt, createdBy, ...content } = version
  return content
}
