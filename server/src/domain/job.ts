// Jobs: what devices are to do. A job may change; a run keeps the version that it was triggered with.

import { ApiError, defaultRetry, type JobContent, maxDocumentBytes, rolloutProblem } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { StoredJob } from './ports/jobs.ts'
import type { Put } from './ports/slices.ts'
import type { Store } from './ports/store.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

export type JobDeps = QuotaDeps & { store: Store; now: () => number }

export function putJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  content: JobContent,
): Promise<Put<StoredJob>> {
  const document = content.document ?? {}
  if (Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes) {
    throw new ApiError('J-500', { field: 'document', detail: 'document is larger than 64 KiB.' })
  }
  const { rollout, approval } = content
  const problem = rollout && rolloutProblem(rollout)
  if (problem) throw new ApiError('J-500', problem)
  const { ownerNo } = caller
  const put = {
    ownerNo,
    jobName,
    content: {
      description: content.description ?? '',
      document,
      expireAfterSeconds: content.expireAfterSeconds ?? null,
      timeoutSeconds: content.timeoutSeconds ?? null,
      deadlineSeconds: content.deadlineSeconds ?? null,
      retry: content.retry ? { ...defaultRetry, ...content.retry } : null,
      ...(rollout && { rollout }),
      ...(approval && { approval }),
    },
    at: deps.now(),
  }
  return withinQuota(deps, 'max-owner-jobs', ownerNo, () => deps.store.putJob(put), {
    isCreated: ({ created }) => created,
    mayReplace: async () => (await deps.store.getJob({ ownerNo, jobName })) !== undefined,
  })
}

export async function getJob(deps: JobDeps, caller: Caller, jobName: string): Promise<StoredJob> {
  const job = await deps.store.getJob({ ownerNo: caller.ownerNo, jobName })
  if (job === undefined) throw new ApiError('J-301')
  return job
}

export async function deleteJob(deps: JobDeps, caller: Caller, jobName: string): Promise<void> {
  if (!(await deps.store.deleteJob({ ownerNo: caller.ownerNo, jobName, at: deps.now() })))
    throw new ApiError('J-301')
}
