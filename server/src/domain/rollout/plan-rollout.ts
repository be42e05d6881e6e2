// How a run that is about to be created will be released: the order of its devices, and the sizes of its waves.

import { ApiError, type Approval, type Rollout } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { WallInstant } from '../common/instants.ts'
import { seededRandom } from '../common/seeded-random.ts'
import type { Moment } from '../execution/execution.ts'
import { readTargets, type SelectDeps, selectDevices } from '../selector/select-devices.ts'
import { planWaves, type WaveProblem } from './plan-waves.ts'

/** Returns those of the devices that match the selector. */
export type MatchDevices = (
  ownerNo: number,
  where: string,
  deviceIds: readonly string[],
) => Promise<ReadonlySet<string>>

export type PlanDeps = { matchDevices: MatchDevices } & OrderDeps
type OrderDeps = { moment: () => Moment }

type RequestedRollout = {
  rollout: Rollout
  /** The rollout is the job's default, which must fit any devices: those left over form one more wave. */
  fitsAny: boolean
  /** The same seed gives the same order of the same devices; undefined: a random order. */
  seed?: string
}

/** Also says whether the run needs approval, and when it starts. */
export type RequestedPlan = RequestedRollout & { approval: Approval; startAt?: WallInstant }

type PlannedRollout = { deviceIds: string[]; sizes: number[] }

export async function planRollout(
  { matchDevices, moment }: PlanDeps,
  ownerNo: number,
  deviceIds: string[],
  { rollout, fitsAny, seed }: RequestedRollout,
): Promise<PlannedRollout> {
  const wheres = new Set(rollout.waves?.flatMap(({ where }) => where ?? []))
  const matching = new Map<string, ReadonlySet<string>>()
  for (const where of wheres) {
    const found = matchDevices(ownerNo, where, deviceIds)
    // A deleted group matches no device; it must not fail the trigger call.
    matching.set(where, await (fitsAny ? found.catch(noneIfRefused) : found))
  }
  const planned = planWaves(rollout, {
    total: deviceIds.length,
    matches: (where, index) => matching.get(where)?.has(deviceIds[index] ?? '') ?? false,
    random: randomOf(moment(), seed),
    fitsAny,
  })
  if ('kind' in planned) throw new ApiError('J-500', { field: 'rollout.waves', detail: wordsOf(planned) })
  return { sizes: planned.sizes, deviceIds: planned.deviceIndexes.map((index) => deviceIds[index] ?? '') }
}

function randomOf({ chance }: Pick<Moment, 'chance'>, seed = String(chance)): () => number {
  return seededRandom(seed)
}

function noneIfRefused(error: unknown): ReadonlySet<string> {
  if (error instanceof ApiError) return new Set()
  throw error
}

function wordsOf(problem: WaveProblem): string {
  return problem.kind === 'not-all'
    ? `The waves do not include ${problem.missing} of the devices; use "100%" as the last wave to include all remaining devices.`
    : `None of the remaining devices matches the selector of wave ${problem.wave}.`
}

/** Like `planRollout`, for so many devices that they are listed by number only. */
export async function planLarge(
  deps: SelectDeps & OrderDeps,
  caller: Caller,
  deviceNos: Int32Array,
  { rollout, fitsAny, seed }: RequestedRollout,
): Promise<{ deviceNos: Int32Array; sizes: number[] }> {
  const matching = new Map<string, ReadonlySet<number>>()
  for (const where of new Set(rollout.waves?.flatMap((wave) => wave.where ?? []))) {
    const selected = await selectDevices(deps, caller, await readTargets(deps, caller, where))
    matching.set(where, new Set(selected.deviceNos))
  }
  const planned = planWaves(rollout, {
    total: deviceNos.length,
    matches: (where, index) => matching.get(where)?.has(deviceNos[index] ?? 0) ?? false,
    random: randomOf(deps.moment(), seed),
    fitsAny,
  })
  if ('kind' in planned) throw new ApiError('J-500', { field: 'rollout.waves', detail: wordsOf(planned) })
  const { sizes, deviceIndexes } = planned
  return { sizes, deviceNos: Int32Array.from(deviceIndexes, (index) => deviceNos[index] ?? 0) }
}
