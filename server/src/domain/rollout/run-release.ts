// How a run that is about to be made is released: what its call asks for, with what it leaves to the job.

import { ApiError, type NewRun, parseInstant, type RunPlan } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { type SelectDeps, sampleSize } from '../selector/select-devices.ts'
import type { TriggerPlan } from '../trigger/trigger.ts'
import { approvalUnder } from './approval.ts'
import { type AskedPlan, type PlanDeps, planLarge, planRollout } from './plan-rollout.ts'
import { waveParts } from './rollout.ts'
import { requireGate, requireRollout } from './rollout-selectors.ts'

type ReleaseDeps = SelectDeps & { now: () => number }
type AskedRelease = Pick<NewRun, 'rollout' | 'approval' | 'startAt'>
type ReleasedJob = Pick<StoredJobContent, 'rollout'>

/** Undefined: as its job says. */
export type RunRelease = { release?: AskedPlan }

/** Clocks differ: what has just passed is now. */
const toleratedMs = 60_000
const longestWaitMs = 366 * 24 * 60 * 60_000

/** Throws J-500, J-503 and J-309. */
export async function releaseForRun(
  deps: ReleaseDeps,
  caller: Caller,
  job: ReleasedJob,
  request: AskedRelease,
): Promise<RunRelease> {
  if (request.rollout) await requireRollout(deps, caller, request.rollout)
  else if (job.rollout) await requireGate(deps, caller, job.rollout)
  return readRelease(deps, job, request)
}

function readRelease(
  deps: Pick<ReleaseDeps, 'now'>,
  job: ReleasedJob,
  { rollout, approval, ...asked }: AskedRelease,
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

/** Its devices in the order of their release, and the sizes of its waves. */
export async function planRelease(
  deps: PlanDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  deviceIds: string[],
  release: AskedPlan | undefined,
): Promise<{ deviceIds: string[]; plan?: TriggerPlan }> {
  if (release === undefined) return { deviceIds }
  const { rollout, approval, startAt } = release
  const begin = startAt === undefined ? {} : { startAt }
  const planned = await planRollout(deps, ownerNo, [...new Set(deviceIds)], release)
  const plan = { jobVersion: null, rollout, approval, sizes: planned.sizes, ...begin }
  return { deviceIds: planned.deviceIds, plan }
}

/** In the order of their release; without ids if there are too many of them. */
export type ArrangedDevices = { deviceIds: string[] | undefined; deviceNos: Int32Array; sizes: number[] }

type AskedDevices = Pick<ArrangedDevices, 'deviceIds' | 'deviceNos'>

/** With what the job says of it; undefined: it is released at once. */
export function wholeRelease(
  deps: Pick<ReleaseDeps, 'now'>,
  job: Pick<StoredJobContent, 'rollout' | 'approval'>,
  request: AskedRelease,
): AskedPlan | undefined {
  const { release } = readRelease(deps, job, request)
  if (release) return { ...release, approval: approvalUnder(job, release) }
  if (job.rollout === undefined && !job.approval) return undefined
  return { rollout: job.rollout ?? {}, approval: job.approval ?? false, fitsAny: true }
}

/** The same devices under the same seed are always arranged alike. Throws J-500, J-503 and J-309. */
export async function arrangeDevices(
  deps: SelectDeps & PlanDeps,
  caller: Caller,
  release: AskedPlan | undefined,
  { deviceIds, deviceNos }: AskedDevices,
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

/** Waves as a plan shows them, with some of their devices. */
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
