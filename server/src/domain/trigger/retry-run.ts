// New runs on devices of an earlier one: retries those whose execution was unsuccessful, or takes devices back to an
// earlier version of the job.

import { ApiError, type ErrorCode, type RetryRequest, type RollbackRequest } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import { readWritten } from '../common/ports/storage-errors.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { toRunJob } from './launch-run.ts'
import type { StoredRun } from './ports/runs.ts'
import { type GivenValues, openSecrets } from './run-values.ts'
import { findEarlierRun, type Launch, launchRun, type TriggerDeps } from './trigger-job.ts'

export type RetryDeps = TriggerDeps & {
  store: Pick<
    Store,
    'getRun' | 'listEndedDevices' | 'getJob' | 'getJobVersion' | 'getRunValues' | 'getWindow'
  >
}
/** Of one call: who may repeat it, and the trace it belongs to. */
type CallDetails = { idempotencyKey: string | undefined; traceParent: string | undefined }
type Made = { run: StoredRun; isReplayed: boolean }

/** Unfinished executions and deleted devices are skipped. */
export async function retryRun(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  { deviceIds: given, version = 'SAME' }: RetryRequest,
  details: CallDetails,
): Promise<Made> {
  const asked = ['retry', runId, given ?? null, ...(version === 'SAME' ? [] : [version])]
  const wanted = given && new Set(given)
  return launchAgain(deps, caller, runId, details, {
    ...{ asked, ends: 'unsuccessful', nobody: 'J-305', retryOf: runId },
    isWanted: (deviceId) => wanted?.has(deviceId) ?? true,
    versionFor: (run) => (version === 'SAME' ? run.version : undefined),
  })
}

/** A new run of an earlier version, on the devices that have carried out the run, well or not. */
export async function rollBackRun(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  { toVersion }: RollbackRequest,
  details: CallDetails,
): Promise<Made> {
  return launchAgain(deps, caller, runId, details, {
    ...{ asked: ['rollback', runId, toVersion ?? null], ends: 'carried-out', nobody: 'J-314', retryOf: null },
    isWanted: () => true,
    versionFor: ({ version }) => toVersion ?? version - 1,
    rollbackOf: runId,
  })
}

type Again = {
  asked: unknown[]
  ends: 'unsuccessful' | 'carried-out'
  /** If there is no such device. */
  nobody: ErrorCode
  retryOf: number | null
  rollbackOf?: number
  isWanted: (deviceId: string) => boolean
  /** Undefined: the current one. */
  versionFor: (run: StoredRun) => number | undefined
}

async function launchAgain(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  { idempotencyKey, traceParent }: CallDetails,
  again: Again,
): Promise<Made> {
  const { ownerNo } = caller
  const { asked, ends, nobody, retryOf, rollbackOf } = again
  const run = await deps.store.getRun({ ownerNo, runId })
  const ended = await deps.store.listEndedDevices({ ownerNo, runId, ends })
  const deviceIds = ended?.filter(again.isWanted) ?? []
  let launched = await findEarlierRun(deps, caller, asked, idempotencyKey)
  if (launched === undefined && (run === undefined || deviceIds.length === 0)) {
    throw run === undefined ? notFound('J-304', runId) : new ApiError(nobody)
  }
  if (launched === undefined && run) {
    const version = await findVersion(deps, caller, run, again.versionFor(run))
    const none = { where: null, matched: null, note: null }
    const launch: Launch = {
      ...{ jobName: run.jobName, deviceIds, retryOf, asked },
      ...(rollbackOf !== undefined && { request: { ...none, rollbackOf } }),
      ...(version && { pinned: toRunJob(version, version) }),
      window: await windowOf(deps, caller, run),
      given: await carriedValues(deps, ownerNo, run, version),
    }
    launched = await launchRun(deps, caller, launch, idempotencyKey, traceParent)
  }
  return readMade(deps, ownerNo, launched)
}

/** The values of the earlier run, as far as the version declares them. Its secrets stay secrets. */
async function carriedValues(
  deps: RetryDeps,
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
async function findVersion(
  { store }: RetryDeps,
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

async function readMade(
  { store }: RetryDeps,
  ownerNo: number,
  launched: { runId: number; isReplayed?: true } | undefined,
): Promise<Made> {
  const run = launched && (await readWritten(store.getRun({ ownerNo, runId: launched.runId })))
  if (run === undefined) throw new Error(`run ${launched?.runId} was created but cannot be read`)
  return { run, isReplayed: launched?.isReplayed ?? false }
}

/** That of the job if it has one, else that of the run it repeats, if it is still there. */
async function windowOf(
  { store }: RetryDeps,
  { ownerNo }: Caller,
  { jobName, window }: StoredRun,
): Promise<string | undefined> {
  if (window === null || (await store.getJob({ ownerNo, jobName }))?.window) return undefined
  return (await store.getWindow({ ownerNo, windowName: window })) && window
}
