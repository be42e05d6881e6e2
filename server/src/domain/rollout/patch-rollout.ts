// Changes the rules of a run in progress: applies a merge patch and recomputes the sizes of the waves.

import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Rollout, type RolloutChanges } from '@jobcast/contract'
import { mergePatch } from '../common/merge-patch.ts'
import { opensMoreEasily } from './gate.ts'
import type { RolloutStatus } from './judge-rollout.ts'
import { countOf, defaultOrder } from './plan-waves.ts'
import type { RolloutPlan } from './rollout.ts'
import { waveParts } from './rollout.ts'

type Waves = NonNullable<Rollout['waves']>

/** Applies the patch. Objects that end up empty are removed. */
export function patchedRollout(before: Rollout, patch: RolloutChanges): Rollout {
  const { growth, budget, next, ...merged } = mergePatch(before, patch) as Rollout
  return {
    ...merged,
    ...(growth && Object.keys(growth).length > 0 && { growth }),
    ...(budget && Object.keys(budget).length > 0 && { budget }),
    ...(next && Object.keys(next).length > 0 && { next }),
  }
}

/** `begun`: how many waves have begun. These waves and the order of the devices are fixed. */
export function patchedSizes(
  { rollout: before, sizes }: Pick<RolloutPlan, 'rollout' | 'sizes'>,
  { total, begun }: { total: number; begun: number },
  rollout: Rollout,
): number[] {
  if ((rollout.order ?? defaultOrder) !== (before.order ?? defaultOrder)) {
    throw invalid('rollout.order', 'cannot change: the run has ordered its devices')
  }
  if (isDeepStrictEqual(rollout.waves, before.waves)) return sizes
  const [earlier, waves] = [wavesOf(before), wavesOf(rollout)]
  const planned: number[] = []
  let left = total
  for (const [index, wave] of waves.entries()) {
    const field = `rollout.waves[${index}]`
    if (wave.where !== earlier[index]?.where)
      throw invalid(`${field}.where`, 'cannot change: the run has chosen its devices')
    // A wave with a selector keeps the devices that matched.
    const isSame = isDeepStrictEqual(wave, earlier[index])
    const isKept = isSame && (wave.where !== undefined || index < begun)
    const size = Math.min(left, isKept ? (sizes[index] ?? 0) : countOf(wave.size, total))
    if (index < begun && size !== sizes[index])
      throw invalid(`${field}.size`, `must stay ${sizes[index]}: that wave has already started`)
    if (size > 0) planned.push(size)
    left -= size
  }
  if (left > 0 || planned.length < begun) {
    throw invalid('rollout.waves', 'must cover all devices; a last wave of "100%" takes all the rest')
  }
  requireSelected(waves, sizes, planned)
  return planned
}

/** A wave with a selector holds the devices that matched, so neither its size nor its position can change. */
function requireSelected(waves: Waves, before: number[], after: number[]): void {
  const [earlier, planned] = [waveParts(before), waveParts(after)]
  for (const [index, { where }] of waves.entries()) {
    if (where === undefined || isDeepStrictEqual(earlier[index], planned[index])) continue
    const field = `rollout.waves[${index}]`
    throw invalid(field, 'has a selector, so neither its size nor that of the waves before it can change')
  }
}

/**
 * An APPROVAL gate is removed, moved, or opens more easily. While the run waits for approval, a gate may move: the
 * approver sees the change.
 */
export function weakensGate(
  before: Pick<RolloutPlan, 'rollout' | 'sizes'>,
  after: Pick<RolloutPlan, 'rollout' | 'sizes'>,
  { wave, state }: Pick<RolloutStatus, 'wave' | 'state'>,
): boolean {
  const [gate, changed] = [before.rollout.next, after.rollout.next]
  const ahead = gatesOf(before.sizes).slice(wave)
  if (gate?.action !== 'APPROVAL' || ahead.length === 0) return false
  const kept = gatesOf(after.sizes).slice(wave)
  return (
    changed?.action !== 'APPROVAL' ||
    kept.length < ahead.length ||
    (state !== 'AWAITING_APPROVAL' && ahead.some((position) => !kept.includes(position))) ||
    opensMoreEasily(gate, changed)
  )
}

/** How many devices come before each gate. */
function gatesOf(sizes: readonly number[]): number[] {
  return waveParts(sizes)
    .slice(0, -1)
    .map(({ to }) => to)
}

function wavesOf({ waves = [{ size: '100%' }] }: Rollout): Waves {
  return waves
}

function invalid(field: string, what: string): ApiError {
  return new ApiError('J-500', { field, detail: `${field} ${what}.` })
}
