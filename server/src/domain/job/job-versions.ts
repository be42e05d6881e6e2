// Versions of jobs: each change makes the next one, and none of them ever changes.

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

/** The version that was asked for, held back as the current one is, or the current one. */
export async function requireVersion(
  deps: Pick<JobDeps, 'store'>,
  caller: Caller,
  jobName: string,
  version: number | undefined,
): Promise<StoredJobVersion> {
  return (await requireVersions(deps, caller, jobName, version)).job
}

/** The same, with the number of the current one. */
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

/** Makes a new version with the content of an earlier one; none if the current one is like it. */
export async function restoreJobVersion(
  deps: JobDeps,
  caller: Caller,
  { jobName, version }: { jobName: string; version: number },
  ifMatch: { expected?: ExpectedTags },
): Promise<Put<StoredJob>> {
  const found = await getJobVersion(deps, caller, jobName, version)
  // What its author has signed is another version; without the signature, devices would reject it.
  if (found.signatures && !found.isCurrent) throw new ApiError('J-316')
  // Whoever deletes the job meanwhile must not see it come back.
  const restoring = storeJob(deps, caller, jobName, contentOf(found), { expected: ['*'], ...ifMatch })
  return restoring.catch((error: unknown) => {
    const isDeleted = error instanceof ApiError && error.code === 'J-312' && ifMatch.expected === undefined
    throw isDeleted ? new ApiError('J-301') : error
  })
}

/** In the order in which it is put: stored contents are compared as text. */
function contentOf(version: StoredJobVersion): StoredJobContent {
  const { jobName, jobNo, versionNo, version: number, isCurrent, createdAt, createdBy, ...content } = version
  return content
}
