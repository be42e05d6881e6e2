// How a run that is about to be made will be released: the order of its devices, and the sizes of its waves.

import { ApiError, type Rollout } from '@jobcast/contract'
import { planWaves, type WaveProblem } from './plan-waves.ts'

/** Those of these devices that match the selector. */
export type MatchDevices = (
  ownerNo: number,
  where: string,
  deviceIds: readonly string[],
) => Promise<ReadonlySet<string>>

export type PlanDeps = { matchDevices: MatchDevices }

export type AskedRollout = {
  rollout: Rollout
  /** The devices are those of a job's default, which has to fit any of them: what is left over is one more wave. */
  fitsAny: boolean
}

export type PlannedRollout = { deviceIds: string[]; sizes: number[] }

export async function planRollout(
  { matchDevices }: PlanDeps,
  ownerNo: number,
  deviceIds: string[],
  { rollout, fitsAny }: AskedRollout,
): Promise<PlannedRollout> {
  const wheres = new Set(rollout.waves?.flatMap(({ where }) => where ?? []))
  const matching = new Map<string, ReadonlySet<string>>()
  for (const where of wheres) matching.set(where, await matchDevices(ownerNo, where, deviceIds))
  const planned = planWaves(rollout, {
    total: deviceIds.length,
    matches: (where, index) => matching.get(where)?.has(deviceIds[index] ?? '') ?? false,
    random: Math.random,
    fitsAny,
  })
  if ('kind' in planned) throw new ApiError('J-500', { field: 'rollout.waves', detail: wordsOf(planned) })
  return { sizes: planned.sizes, deviceIds: planned.deviceIndexes.map((index) => deviceIds[index] ?? '') }
}

function wordsOf(problem: WaveProblem): string {
  return problem.kind === 'not-all'
    ? `The waves leave out ${problem.missing} of the devices; a last wave of "100%" takes all the rest.`
    : `No device that is left for wave ${problem.wave} matches its selector.`
}
