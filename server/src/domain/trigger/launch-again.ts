// What retries and rollbacks have in common: a new run on devices of an earlier one, with its values, its window and its
// priority.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import { readWritten } from '../common/ports/storage-errors.ts'
import type { Store } from '../common/ports/store.ts'
import { requireFiles } from '../file/file.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import type { RequestedPlan } from '../rollout/plan-rollout.ts'
import { planRollout } from '../rollout/plan-rollout.ts'
import { requireSecrets } from '../secret/secret.ts'
import { toRunJob } from './launch-run.ts'
import type { RunRequest, StoredRun } from './ports/runs.ts'
import { type GivenValues, openSecrets } from './run-values.ts'
import type { TriggerPlan } from './trigger.ts'
import { launchRun, type TriggerDeps } from './trigger-job.ts'

export type AgainDeps = TriggerDeps & {
  store: Pick<
    Store,
    'getRun' | 'getRollout' | 'listEndedDevices' | 'getJob' | 'getJobVersion' | 'getRunValues' | 'getWindow'
  >
}
/** The idempotency key of the call, and the trace it belongs to. */
export type CallDetails = { idempotencyKey: string | undefined; traceParent: string | undefined }
export type Made = { run: StoredRun; isReplayed: boolean }

export type Again = {
  /** The earlier run. */
  run: StoredRun
  asked: unknown[]
  deviceIds: string[]
  retryOf: number | null
  request?: RunRequest
  /** Undefined: the current one. */
  version: StoredJobVersion | undefined
  /** Undefined: as the job defines. */
  plan?: RequestedPlan & Pick<TriggerPlan, 'isExempt'>
}

export async function launchAgain(
  deps: AgainDeps,
  caller: Caller,
  { run, asked, deviceIds, retryOf, request, version, plan }: Again,
  { idempotencyKey, traceParent }: CallDetails,
): Promise<Made> {
  const { ownerNo } = caller
  await requireSecrets(deps, caller, version?.secrets)
  await requireFiles(deps, caller, version?.files)
  const launch = {
    ...{ jobName: run.jobName, retryOf, asked, ...(await planned(deps, ownerNo, deviceIds, plan)) },
    ...(request && { request }),
    ...(version && { pinned: toRunJob(version, version) }),
    window: await windowOf(deps, caller, run),
    priority: run.priority,
    given: await carriedValues(deps, ownerNo, run, version),
  }
  return readMade(deps, ownerNo, await launchRun(deps, caller, launch, idempotencyKey, traceParent))
}

async function planned(
  deps: AgainDeps,
  ownerNo: number,
  deviceIds: string[],
  asked: Again['plan'],
): Promise<{ deviceIds: string[]; plan?: TriggerPlan }> {
  if (asked === undefined) return { deviceIds }
  const { rollout, approval, isExempt } = asked
  const { sizes, deviceIds: ordered } = await planRollout(deps, ownerNo, deviceIds, asked)
  const plan = { jobVersion: null, rollout, approval, sizes, ...(isExempt && { isExempt }) }
  return { deviceIds: ordered, plan }
}

/** The values of the earlier run, as far as the version declares them. Its secrets stay secrets. */
async function carriedValues(
  deps: AgainDeps,
  ownerNo: number,
  { runId, jobName }: StoredRun,
  version: StoredJobVersion | undefined,
): Promise<GivenValues> {
  const stored = await deps.store.getRunValues({ runId })
  if (stored === undefined) return {}
  const { parameters } = version ?? (await deps.store.getJob({ ownerNo, jobName })) ?? {}
  const declared = Object.keys(parameters?.properties ?? {})
  const secrets = openSecrets(deps.secretBox, ownerNo, stored.secrets)
  const values = Object.entries({ ...stored.parameters, ...secrets })
  return {
    parameters: Object.fromEntries(values.filter(([name]) => declared.includes(name))),
    keptSecret: Object.keys(secrets),
  }
}

/** Undefined: the current one. */
export async function findVersion(
  { store }: AgainDeps,
  { ownerNo }: Caller,
  { jobName }: StoredRun,
  version: number | undefined,
): Promise<StoredJobVersion | undefined> {
  if (version === undefined) return undefined
  const found = await store.getJobVersion({ ownerNo, jobName, version })
  if (found !== undefined) return found
  const job = await store.getJob({ ownerNo, jobName })
  if (job === undefined) throw notFound('J-301', jobName)
  const detail =
    version < 1
      ? `The run used version 1 of the job ${jobName}, which has no previous version: set toVersion.`
      : `The job ${jobName} has no version ${version}.`
  throw new ApiError('J-313', { detail })
}

export async function readMade(
  { store }: AgainDeps,
  ownerNo: number,
  launched: { runId: number; isReplayed?: true },
): Promise<Made> {
  const run = await readWritten(store.getRun({ ownerNo, runId: launched.runId }))
  if (run === undefined) throw new Error(`run ${launched.runId} was created but cannot be read`)
  return { run, isReplayed: launched.isReplayed ?? false }
}

/** The window of the earlier run, if it still exists; undefined: none, or the job's own window applies. */
async function windowOf(
  { store }: AgainDeps,
  { ownerNo }: Caller,
  { jobName, window }: StoredRun,
): Promise<string | undefined> {
  if (window === null || (await store.getJob({ ownerNo, jobName }))?.window) return undefined
  return (await store.getWindow({ ownerNo, windowName: window })) && window
}
