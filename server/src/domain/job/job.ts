// A job: instructions for devices, as a JSON document with a name. Each change creates a new version, which never changes;
// a run keeps the version that it was triggered with. A job may have parameters, timers, a retry policy, a rollout, a
// window, and signatures of its authors. This file has the owner's operations on jobs.
//
// Read next: job-versions.ts, its versions; check-parameters.ts, its parameters and placeholders; job-signatures.ts,
// signatures of its authors; held-as-now.ts, fields of an earlier version that do not apply. Its runs are in trigger/.

import {
  ApiError,
  defaultPriority,
  defaultRetry,
  type JobContent,
  jobs,
  maxDocumentBytes,
  requiredApprovals,
  toApproval,
} from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { SecretBox } from '../access/ports/secret-box.ts'
import { principalOf } from '../access/principal.ts'
import { isConfined, mayUseJob } from '../access/restriction.ts'
import { type QuotaDeps, withinQuota } from '../access/within-quota.ts'
import { originOf } from '../audit/audit.ts'
import type { Expectation } from '../common/entity-tag.ts'
import { usersText } from '../common/in-use.ts'
import { listVisible } from '../common/list-visible.ts'
import { notExpected, notFound } from '../common/not-found.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { noFile } from '../file/file.ts'
import type { FileContents } from '../file/ports/contents.ts'
import { requireRollout } from '../rollout/rollout-selectors.ts'
import { noSecret } from '../secret/secret.ts'
import { noWindow, requireWindow } from '../window/window.ts'
import { checkParameters } from './check-parameters.ts'
import { signaturesOf, wrongVersion } from './job-signatures.ts'
import type { JobUsers, StoredJob, StoredJobContent } from './ports/jobs.ts'

export type JobDeps = QuotaDeps & {
  store: Store
  now: () => number
  secretBox: SecretBox
  contents: Pick<FileContents, 'direct'>
}

export async function putJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  content: JobContent,
  ifMatch: Expectation = {},
): Promise<Put<StoredJob>> {
  const document = content.document ?? {}
  if (Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes) {
    throw new ApiError('J-500', { field: 'document', detail: 'document is larger than 64 KiB.' })
  }
  const signatures = signaturesOf(jobName, content, deps.now())
  const { rollout, window } = content
  const required = requiredApprovals(content.approval)
  const { parameters, hasPlaceholders, secrets, files } = checkParameters(deps, document, content.parameters)
  if (rollout) await requireRollout(deps, caller, rollout)
  const stored = {
    description: content.description ?? '',
    document,
    expireAfterSeconds: content.expireAfterSeconds ?? null,
    timeoutSeconds: content.timeoutSeconds ?? null,
    deadlineSeconds: content.deadlineSeconds ?? null,
    retry: content.retry ? { ...defaultRetry, ...content.retry } : null,
    ...(rollout && { rollout }),
    ...(required > 0 && { approval: toApproval(required) }),
    ...(window && { window }),
    ...(content.priority !== undefined &&
      content.priority !== defaultPriority && { priority: content.priority }),
    ...(parameters && { parameters }),
    ...(hasPlaceholders && { hasPlaceholders }),
    ...(secrets && { secrets }),
    ...(files && { files }),
    ...(signatures && { signatures }),
  }
  return storeJob(deps, caller, jobName, stored, ifMatch)
}

/** Stores checked content; its window, secrets and files may have been deleted since the check. */
export async function storeJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  content: StoredJobContent,
  ifMatch: Expectation,
): Promise<Put<StoredJob>> {
  const { ownerNo } = caller
  if (content.window) await requireWindow(deps, caller, content.window)
  const mayWeaken = caller.scopes.includes('APPROVE')
  const put = {
    ...{ ownerNo, jobName, content, at: deps.now(), by: principalOf(caller), ...ifMatch },
    ...(!mayWeaken && { keepsApproval: true as const }),
    ...originOf(caller),
  }
  const result = await withinQuota(deps, 'jobs', ownerNo, () => deps.store.putJob(put), {
    isCreated: ({ created }) => created,
    mayReplace: async () => (await deps.store.getJob({ ownerNo, jobName })) !== undefined,
  })
  // The window was deleted after the check.
  if (result.lacksWindow) throw noWindow(content.window)
  if (result.weakensApproval) throw fewerApprovals(jobName)
  if (result.lacksSecret !== undefined) throw noSecret(result.lacksSecret)
  if (result.lacksFile !== undefined) throw noFile(result.lacksFile)
  if (result.nextVersion !== undefined) throw wrongVersion(content, result.nextVersion)
  if (result.isRefused) throw notExpected(jobs, jobName, ifMatch)
  return result
}

/** Also applies to a deleted job that is put again. */
function fewerApprovals(jobName: string): ApiError {
  const detail = `Runs of the job ${JSON.stringify(jobName)} would need fewer approvals than before.`
  return new ApiError('J-804', { suffix: 'APPROVE', field: 'approval', detail })
}

export async function getJob(deps: JobDeps, caller: Caller, jobName: string): Promise<StoredJob> {
  const job = await deps.store.getJob({ ownerNo: caller.ownerNo, jobName })
  if (job === undefined) throw notFound('J-301', jobName)
  return job
}

export function listJobs(
  { store }: JobDeps,
  caller: Caller,
  slice: Slice<string>,
): Promise<Sliced<StoredJob, string>> {
  const { ownerNo } = caller
  const list = (part: Slice<string>) => store.listJobs({ ownerNo, slice: part })
  if (!isConfined(caller)) return list(slice)
  return listVisible(
    list,
    slice,
    ({ jobName }) => mayUseJob(caller, jobName),
    ({ jobName }) => jobName,
  )
}

export async function deleteJob(
  deps: JobDeps,
  caller: Caller,
  jobName: string,
  { force = false, ...ifMatch }: Expectation & { force?: boolean | undefined } = {},
): Promise<void> {
  const { ownerNo } = caller
  // Checked first, so that concurrent triggers do not fail for a job that is not deleted.
  const users = force ? undefined : await deps.store.findJobUsers({ ownerNo, jobName })
  if (users && (await deps.store.getJob({ ownerNo, jobName }))) throw inUse(users)
  const by = { at: deps.now(), by: principalOf(caller), ...originOf(caller) }
  const outcome = await deps.store.deleteJob({ ownerNo, jobName, ...by, unlessUsed: !force, ...ifMatch })
  if (outcome === 'changed') throw new ApiError('J-312')
  if (outcome === 'unknown') throw notFound('J-301', jobName)
  if (outcome !== 'deleted') throw inUse(outcome)
}

function inUse({ scheduleNames, runIds }: JobUsers): ApiError {
  return new ApiError('J-315', { suffix: usersText({ schedule: scheduleNames, 'waiting run': runIds }) })
}
