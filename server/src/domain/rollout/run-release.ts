// How a run that is about to be created is released: as its call requests, otherwise as the job defines.

import { ApiError, type NewRun, parseInstant, type RunPlan } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { type SelectDeps, sampleSize } from '../selector/select-devices.ts'
import type { TriggerPlan } from '../trigger/trigger.ts'
import { approvalUnder } from './approval.ts'
import { type PlanDeps, planLarge, planRollout, type RequestedPlan } from './plan-rollout.ts'
import { waveParts } from './rollout.ts'
import { requireGate, requireRollout } from './rollout-selectors.ts'

type ReleaseDeps = SelectDeps & { now: () => number }
type RequestedRelease = Pick<NewRun, 'rollout' | 'approval' | 'startAt'>
type ReleasedJob = Pick<StoredJobContent, 'rollout'>

/** Undefined: as the job defines. */
export type RunRelease = { release?: RequestedPlan }

/** Clocks differ: a start time that has just passed means now. */
const toleratedMs = 60_000
const longestWaitMs = 366 * 24 * 60 * 60_000

/** Throws J-500, J-503 and J-309. */
export async function releaseForRun(
  deps: ReleaseDeps,
  caller: Caller,
  job: ReleasedJob,
  request: RequestedRelease,
): Promise<RunRelease> {
  if (request.rollout) await requireRollout(deps, caller, request.rollout)
  else if (job.rollout) await requireGate(deps, caller, job.rollout)
  return readRelease(deps, job, request)
}

function readRelease(
  deps: Pick<ReleaseDeps, 'now'>,
  job: ReleasedJob,
  { rollout, approval, ...asked }: RequestedRelease,
): RunRelease {
  const startAt = readStart(deps, asked.startAt)
  if (rollout === undefined && !approval && startAt === undefined) return {}
  const fitsAny = rollout === undefined
  const begin = startAt === undefined ? {} : { startAt }
  return {
    release: { rollout: rollout ?? job.rollout ?? {}, approval: approval ?? false, fitsAny, ...begin },
  }
}

function readStart({ now }: Pick<ReleaseDeps, 'now'>, startAt: string | undefined): number | undefined {
  if (startAt === undefined) return undefined
  const at = parseInstant(startAt)
  const wait = at - now()
  if (wait < -toleratedMs || wait > longestWaitMs) {
    const detail = 'startAt must be in the future, at most a year from now.'
    throw new ApiError('J-500', { field: 'startAt', detail })
  }
  return wait > 0 ? at : undefined
}

/** Arranges the devices in the order of their release, and sizes the waves. */
export async function planRelease(
  deps: PlanDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  deviceIds: string[],
  release: RequestedPlan | undefined,
): Promise<{ deviceIds: string[]; plan?: TriggerPlan }> {
  if (release === undefined) return { deviceIds }
  const { rollout, approval, startAt } = release
  const begin = startAt === undefined ? {} : { startAt }
  const planned = await planRollout(deps, ownerNo, [...new Set(deviceIds)], release)
  const plan = { jobVersion: null, rollout, approval, sizes: planned.sizes, ...begin }
  return { deviceIds: planned.deviceIds, plan }
}

/** Devices in the order of their release; without ids if there are too many. */
export type ArrangedDevices = { deviceIds: string[] | undefined; deviceNos: Int32Array; sizes: number[] }

type RequestedDevices = Pick<ArrangedDevices, 'deviceIds' | 'deviceNos'>

/** The requested release with the job's defaults; undefined: everything is released at once. */
export function wholeRelease(
  deps: Pick<ReleaseDeps, 'now'>,
  job: Pick<StoredJobContent, 'rollout' | 'approval'>,
  request: RequestedRelease,
): RequestedPlan | undefined {
  const { release } = readRelease(deps, job, request)
  if (release) return { ...release, approval: approvalUnder(job, release) }
  if (job.rollout === undefined && !job.approval) return undefined
  return { rollout: job.rollout ?? {}, approval: job.approval ?? false, fitsAny: true }
}

/** The same devices with the same seed are always in the same order. Throws J-500, J-503 and J-309. */
export async function arrangeDevices(
  deps: SelectDeps & PlanDeps,
  caller: Caller,
  release: RequestedPlan | undefined,
  { deviceIds, deviceNos }: RequestedDevices,
  seed: string,
): Promise<ArrangedDevices> {
  const distinct = deviceIds && [...new Set(deviceIds)]
  const total = distinct?.length ?? deviceNos.length
  if (release === undefined || total === 0) {
    return { deviceIds: distinct, deviceNos, sizes: total === 0 ? [] : [total] }
  }
  const asked = { ...release, seed }
  if (distinct === undefined) {
    return { deviceIds: undefined, ...(await planLarge(deps, caller, deviceNos, asked)) }
  }
  return { deviceNos, ...(await planRollout(deps, caller.ownerNo, distinct, asked)) }
}

/** The waves as a plan shows them, each with a sample of its devices. */
export async function showWaves(
  { store }: SelectDeps,
  { ownerNo }: Caller,
  { deviceIds, deviceNos, sizes }: ArrangedDevices,
): Promise<RunPlan['waves']> {
  const samples = waveParts(sizes).map(({ from, to }) => ({
    size: to - from,
    from,
    to: Math.min(to, from + sampleSize),
  }))
  if (deviceIds) return samples.map(({ size, from, to }) => ({ size, sample: deviceIds.slice(from, to) }))
  const shown = samples.flatMap(({ from, to }) => [...deviceNos.subarray(from, to)])
  const names = new Map<number, string>()
  for (const { deviceNo, deviceId } of await store.listSelectable({ ownerNo, deviceNos: shown }))
    names.set(deviceNo, deviceId)
  return samples.map(({ size, from, to }) => ({
    size,
    sample: [...deviceNos.subarray(from, to)].flatMap((deviceNo) => names.get(deviceNo) ?? []),
  }))
}
