// A run on targets, and its plan: what it would do if it were created now.

import { ApiError, type NewRun, type RunPlan } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { Caller } from './caller.ts'
import { type LargeRunDeps, launchLargeRun } from './launch-large-run.ts'
import type { StoredJob } from './ports/jobs.ts'
import type { RunRequest, StoredRun } from './ports/runs.ts'
import {
  digestOf,
  launchedAtOnce,
  readTargets,
  type SelectDeps,
  type Selected,
  selectDevices,
  whereOf,
} from './select-devices.ts'
import { findEarlierRun, launchRun } from './trigger-job.ts'

export type CreateRunDeps = LargeRunDeps & SelectDeps & { now: () => number }

const planValidMs = 10 * 60 * 1000
const sampleSize = 20

export async function createRun(
  deps: CreateRunDeps,
  caller: Caller,
  request: NewRun,
  idempotencyKey?: string,
): Promise<StoredRun> {
  const asked = ['run', request.jobName, request.targets, request.note ?? null]
  const earlier = await findEarlierRun(deps, caller, asked, idempotencyKey)
  const { runId } = earlier ?? (await launch(deps, caller, request, asked, idempotencyKey))
  const made = await deps.store.getRun({ ownerNo: caller.ownerNo, runId })
  if (made === undefined) throw new Error(`run ${runId} was made and cannot be read`)
  return made
}

async function launch(
  deps: CreateRunDeps,
  caller: Caller,
  { jobName, targets, planId, ...rest }: NewRun,
  asked: unknown[],
  idempotencyKey: string | undefined,
): Promise<{ runId: number }> {
  const note = rest.note ?? null
  const job = await requireJob(deps, caller, jobName)
  const where = whereOf(targets)
  const launch = { jobName, retryOf: null, asked }
  if (where === undefined) {
    const deviceIds = targets.deviceIds ?? []
    checkPlan(deps, planId, job, digestOfList(deviceIds))
    const request = note === null ? undefined : { where: null, matched: null, note }
    return launchRun(deps, caller, { ...launch, deviceIds, ...(request && { request }) }, idempotencyKey)
  }
  const selected = await selectDevices(deps, caller, await readTargets(deps, caller, where))
  if (selected.total === 0) throw new ApiError('J-504')
  checkPlan(deps, planId, job, selected.digest)
  const { total: matched, deviceIds, deviceNos } = selected
  const request: RunRequest = { where, matched, note }
  if (deviceIds === undefined) {
    return launchLargeRun(deps, caller, { jobName, asked, request, deviceNos }, idempotencyKey)
  }
  return launchRun(deps, caller, { ...launch, deviceIds, request }, idempotencyKey)
}

/** Refused as the run itself would be, but for what the plan can tell. */
export async function planRun(
  deps: CreateRunDeps,
  caller: Caller,
  { jobName, targets }: NewRun,
): Promise<RunPlan> {
  const job = await requireJob(deps, caller, jobName)
  const where = whereOf(targets)
  const found =
    where === undefined
      ? await planList(deps, caller, targets.deviceIds ?? [])
      : await planSelection(deps, caller, await readTargets(deps, caller, where))
  const { total, online, busy, sample, digest, unknownNames } = found
  const problems = unknownNames.map((name) => `No device has an attribute ${name}.`)
  if (total === 0) problems.push('The selector matches no device.')
  return {
    planId: toPlanId(deps.now() + planValidMs, job, digest),
    total,
    online,
    offline: total - online,
    busy,
    waves: total === 0 ? [] : [{ size: total, sample }],
    document: total === 0 ? null : job.document,
    problems,
  }
}

type Found = Pick<Selected, 'total' | 'sample' | 'digest'> & {
  online: number
  busy: number
  unknownNames: string[]
}

async function planSelection(deps: CreateRunDeps, caller: Caller, where: Selector): Promise<Found> {
  const { total, sample, digest } = await selectDevices(deps, caller, where)
  const { online, busy, unknownNames } = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
  return { total, sample, digest, online: Math.min(online, total), busy, unknownNames }
}

async function planList({ store }: CreateRunDeps, { ownerNo }: Caller, deviceIds: string[]): Promise<Found> {
  const distinct = [...new Set(deviceIds)]
  const found = { online: 0, busy: 0, total: 0 }
  for (let start = 0; start < distinct.length; start += launchedAtOnce) {
    const values = distinct.slice(start, start + launchedAtOnce)
    const where: Selector = { kind: 'in', name: 'deviceId', values }
    const { total, online, busy } = await store.countDevices({ ownerNo, where })
    if (total < values.length) throw new ApiError('J-001')
    found.total += total
    found.online += online
    found.busy += busy
  }
  return {
    ...found,
    sample: distinct.slice(0, sampleSize),
    digest: digestOfList(deviceIds),
    unknownNames: [],
  }
}

function digestOfList(deviceIds: string[]): string {
  return digestOf(new Set(deviceIds))
}

async function requireJob(
  { store }: CreateRunDeps,
  { ownerNo }: Caller,
  jobName: string,
): Promise<StoredJob> {
  const job = await store.getJob({ ownerNo, jobName })
  if (job === undefined) throw new ApiError('J-301')
  return job
}

/** It says all that it stands for, so that any node can check it and none has to keep it. */
function toPlanId(validUntil: number, { jobName, updatedAt }: StoredJob, devices: string): string {
  return `${validUntil.toString(36)}.${digestOf([jobName, String(updatedAt), devices])}`
}

function checkPlan(
  { now }: CreateRunDeps,
  planId: string | undefined,
  job: StoredJob,
  devices: string,
): void {
  if (planId === undefined) return
  const validUntil = Number.parseInt(planId.split('.', 1)[0] ?? '', 36)
  const at = now()
  if (!(validUntil >= at && validUntil <= at + planValidMs)) {
    throw new ApiError('J-505', {
      detail: 'The plan is older than 10 minutes, or there is none of this planId.',
    })
  }
  if (toPlanId(validUntil, job, devices) !== planId) {
    throw new ApiError('J-505', { detail: 'The selected devices or the job have changed since the dry run.' })
  }
}
