// Creates a run on targets. Each subject contributes a step, which refuses the call or adds to the run.

import type { NewRun } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { mayUseJob } from '../access/restriction.ts'
import { notFound } from '../common/not-found.ts'
import { readWritten } from '../common/ports/storage-errors.ts'
import { requireVersion } from '../job/job-versions.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { type RunRelease, releaseForRun } from '../rollout/run-release.ts'
import { devicesForRun, type TargetedDevices } from '../selector/select-devices.ts'
import { type RunWindow, windowForRun } from '../window/run-window.ts'
import { type HoldDeps, holdIfRevoked } from './hold-run.ts'
import type { LargeRunDeps } from './launch-large-run.ts'
import { launchOnDevices } from './launch-on-devices.ts'
import type { StoredRun } from './ports/runs.ts'
import { replaceAfterLaunch } from './replace-waiting.ts'
import { requireDevices } from './require-devices.ts'
import { devicesWithAttributes } from './required-attributes.ts'
import { type ValuesOfRun, valuesForRun } from './run-values.ts'
import { findEarlierRun } from './trigger-job.ts'

export type CreateRunDeps = LargeRunDeps & HoldDeps & { now: () => number }

/** What a run has besides its job and its devices. */
type RunTerms = RunWindow & ValuesOfRun & RunRelease & Pick<NewRun, 'priority'>
type TermStep = (
  deps: CreateRunDeps,
  caller: Caller,
  job: StoredJobVersion,
  request: NewRun,
) => Promise<Partial<RunTerms>>

/** Run in this order before devices are looked up; the first step that refuses the call decides its error. */
const termSteps: readonly TermStep[] = [
  windowForRun,
  valuesForRun,
  releaseForRun,
  async function priorityForRun(_deps, _caller, _job, { priority }) {
    return priority === undefined ? {} : { priority }
  },
]

type DeviceStep = (
  deps: CreateRunDeps,
  caller: Caller,
  job: StoredJobVersion,
  request: NewRun,
  devices: TargetedDevices,
) => Promise<Partial<TargetedDevices>>

/** Steps that refuse the devices, or leave some of them out. */
const deviceSteps: readonly DeviceStep[] = [
  function withAttributes(deps, caller, job, { onMissing }, devices) {
    return devicesWithAttributes(deps, caller, job, devices, onMissing)
  },
]

type Call = { asked: unknown[]; idempotencyKey: string | undefined; traceParent: string | undefined }

export async function createRun(
  deps: CreateRunDeps,
  caller: Caller,
  request: NewRun,
  idempotencyKey?: string,
  traceParent?: string,
): Promise<{ run: StoredRun; isReplayed: boolean }> {
  if (!mayUseJob(caller, request.jobName)) throw notFound('J-301', request.jobName)
  if (idempotencyKey !== undefined) await requireDevices(deps, caller, request.targets.deviceIds ?? [])
  const asked = askedBy(deps, request)
  const earlier = await findEarlierRun(deps, caller, asked, idempotencyKey)
  const { runId } = earlier ?? (await launch(deps, caller, request, { asked, idempotencyKey, traceParent }))
  if (earlier === undefined) await holdIfRevoked(deps, caller, request, runId)
  const made = await readWritten(deps.store.getRun({ ownerNo: caller.ownerNo, runId }))
  if (made === undefined) throw new Error(`run ${runId} was created but cannot be read`)
  if (earlier || !request.replaces) return { run: made, isReplayed: earlier !== undefined }
  const { ownerNo, keyId } = caller
  await replaceAfterLaunch(deps, { ownerNo, runId, keyId }, made.total)
  return { run: made, isReplayed: false }
}

/** What must be equal for calls with the same idempotency key. */
function askedBy({ secretBox }: CreateRunDeps, request: NewRun): unknown[] {
  const { jobName, targets, note = null } = request
  const { rollout, approval, startAt, window, ignoreWindows } = request
  const isReleasedAtOnce = !rollout && !approval && !startAt && !window && !ignoreWindows
  const release: unknown[] = isReleasedAtOnce ? [] : [{ rollout, approval, startAt, window, ignoreWindows }]
  if (request.priority !== undefined) release.push({ priority: request.priority })
  if (request.replaces) release.push({ replaces: true })
  const { version, parameters, onMissing } = request
  const isValued = version !== undefined || parameters !== undefined || onMissing !== undefined
  // Requests are stored as a hash, from which a short secret could be guessed.
  const print = parameters && secretBox.fingerprint(JSON.stringify(parameters))
  const values = isValued ? [{ version, print, onMissing }] : []
  return ['run', jobName, targets, note, ...release, ...values]
}

/** Runs the steps of all subjects; used for runs that are started from a plan, too. */
export async function termsForRun(
  deps: CreateRunDeps,
  caller: Caller,
  job: StoredJobVersion,
  request: NewRun,
): Promise<Partial<RunTerms>> {
  let terms: Partial<RunTerms> = {}
  for (const step of termSteps) terms = { ...terms, ...(await step(deps, caller, job, request)) }
  return terms
}

async function launch(
  deps: CreateRunDeps,
  caller: Caller,
  request: NewRun,
  { asked, ...call }: Call,
): Promise<{ runId: number }> {
  const { jobName, targets, version, note = null } = request
  const job = await requireVersion(deps, caller, jobName, version)
  const terms = await termsForRun(deps, caller, job, request)
  let devices = await devicesForRun(deps, caller, targets)
  for (const step of deviceSteps)
    devices = { ...devices, ...(await step(deps, caller, job, request, devices)) }
  const { where, matched } = devices
  const replaces = request.replaces ? { replaces: 1 as const } : {}
  const isPlain = where === null && note === null && !request.replaces
  const kept = isPlain ? {} : { request: { where, matched, note, rollbackOf: null, ...replaces } }
  return launchOnDevices(deps, caller, { jobName, asked, ...terms, ...kept }, devices, call)
}
