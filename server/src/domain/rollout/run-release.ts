// How a run that is about to be made is released: what its call asks for, with what it leaves to the job.

import { ApiError, type NewRun, parseInstant, type RunPlan } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { type SelectDeps, sampleSize } from '../selector/select-devices.ts'
import type { TriggerPlan } from '../trigger/trigger.ts'
import { type AskedPlan, type PlanDeps, planLarge, planRollout } from './plan-rollout.ts'
import { waveParts } from './rollout.ts'
import { requireGate, requireRollout, requireSelectors } from './rollout-selectors.ts'

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
  deps: ReleaseDeps,
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

function readStart({ now }: ReleaseDeps, startAt: string | undefined): number | undefined {
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

type PreviewedDevices = {
  total: number
  sample: string[]
  deviceIds: string[] | undefined
  deviceNos?: Int32Array
}

/** The waves that a run would have, in the order of release; of very many devices without samples. */
export async function previewWaves(
  deps: ReleaseDeps & PlanDeps,
  caller: Caller,
  job: ReleasedJob,
  request: AskedRelease,
  { total, sample, deviceIds, deviceNos }: PreviewedDevices,
): Promise<RunPlan['waves']> {
  if (request.rollout) await requireSelectors(deps, caller, request.rollout)
  const { release: asked } = readRelease(deps, job, request)
  const release = asked ?? (job.rollout && { rollout: job.rollout, fitsAny: true })
  if (release === undefined) return [{ size: total, sample }]
  if (deviceIds === undefined) {
    const { sizes } = await planLarge(deps, caller, deviceNos ?? new Int32Array(), release)
    return sizes.map((size) => ({ size, sample: [] }))
  }
  const planned = await planRollout(deps, caller.ownerNo, deviceIds, release)
  return waveParts(planned.sizes).map(({ from, to }) => ({
    size: to - from,
    sample: planned.deviceIds.slice(from, Math.min(to, from + sampleSize)),
  }))
}
