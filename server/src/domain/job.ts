// Jobs: what devices are to do. A job may change; a run keeps the version that it was triggered with.

import { ApiError, defaultRetry, type JobContent, maxDocumentBytes } from '@jobcast/contract'
import { type Envelope, requireSignatures, SignatureError } from '@jobcast/contract/signature'
import type { Caller } from './caller.ts'
import { type ExpectedTags, isExpected, jobTag } from './entity-tag.ts'
import { isNestedTooDeep, maxJsonDepth } from './json-depth.ts'
import type { StoredJob } from './ports/jobs.ts'
import type { Put } from './ports/slices.ts'
import type { Store } from './ports/store.ts'
import { requireRollout } from './rollout-selectors.ts'
import { type QuotaDeps, withinQuota } from './within-quota.ts'

export type JobDeps = QuotaDeps & { store: Store; now: () => number }

export async function putJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  content: JobContent,
  ifMatch: { expected?: ExpectedTags } = {},
): Promise<Put<StoredJob>> {
  const document = content.document ?? {}
  if (Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes) {
    throw new ApiError('J-500', { field: 'document', detail: 'document is larger than 64 KiB.' })
  }
  const at = deps.now()
  const signatures = signaturesOf(jobName, content, at)
  const { rollout, approval } = content
  if (rollout) await requireRollout(deps, caller, rollout)
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
      ...(signatures && { signatures }),
    },
    at,
    ...ifMatch,
  }
  const result = await withinQuota(deps, 'max-owner-jobs', ownerNo, () => deps.store.putJob(put), {
    isCreated: ({ created }) => created,
    mayReplace: async () => (await deps.store.getJob({ ownerNo, jobName })) !== undefined,
  })
  if (result.isRefused) throw new ApiError('J-312')
  return result
}

/** A mistake made while signing is found here; a forged signature only by devices. */
function signaturesOf(jobName: string, content: JobContent, now: number): Envelope | undefined {
  for (const [index, { payload }] of (content.signatures ?? []).entries()) {
    // Judged before it is parsed, as bodies are; the document is one level deeper in it.
    if (isNestedTooDeep(Buffer.from(payload, 'base64'), maxJsonDepth + 1)) {
      const field = `signatures[${index}].payload`
      throw new ApiError('J-500', { field, detail: `${field} is nested deeper than ${maxJsonDepth + 1}.` })
    }
  }
  try {
    return requireSignatures(jobName, content, now)
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    throw new ApiError('J-500', { field: error.field, detail: `${error.message}.` })
  }
}

export async function getJob(deps: JobDeps, caller: Caller, jobName: string): Promise<StoredJob> {
  const job = await deps.store.getJob({ ownerNo: caller.ownerNo, jobName })
  if (job === undefined) throw new ApiError('J-301')
  return job
}

export async function deleteJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  { expected }: { expected?: ExpectedTags } = {},
): Promise<void> {
  if (expected && !isExpected(expected, jobTag(await getJob(deps, caller, jobName))))
    throw new ApiError('J-312')
  if (!(await deps.store.deleteJob({ ownerNo: caller.ownerNo, jobName, at: deps.now() })))
    throw new ApiError('J-301')
}
