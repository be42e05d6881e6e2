// Which devices of a run make up each wave. The executions of a run have consecutive ids in this order, so how far it is
// released is one number.

import type { Rollout } from '@jobcast/contract'
import { countOfShare } from './percent.ts'

/** Random by default, so that the first wave is a sample of all devices. */
export const defaultOrder = 'RANDOM'

/** `deviceIndexes` are positions in the list of devices, in the order of their release. */
type PlannedWaves = { sizes: number[]; deviceIndexes: number[] }
export type WaveProblem = { kind: 'wave-matches-none'; wave: number } | { kind: 'not-all'; missing: number }

type WavePlanning = {
  total: number
  /** Whether the device at this position matches the selector of a wave. */
  matches: (where: string, index: number) => boolean
  /** From 0 to 1; for order RANDOM. */
  random: () => number
  /** Instead of a problem: devices left over form one more wave, and a wave that matches none is left out. */
  fitsAny?: boolean
}

/** A wave takes at most what the waves before it have left, so "100%" means all the rest. */
export function planWaves(
  { waves = [{ size: '100%' }], order = defaultOrder }: Pick<Rollout, 'waves' | 'order'>,
  { total, matches, random, fitsAny = false }: WavePlanning,
): PlannedWaves | WaveProblem {
  let rest = Array.from({ length: total }, (_, index) => index)
  if (order === 'RANDOM') shuffle(rest, random)
  const deviceIndexes: number[] = []
  const sizes: number[] = []
  for (const [index, { size, where }] of waves.entries()) {
    const wanted = countOf(size, total)
    const { taken, left } = take(rest, wanted, where === undefined ? undefined : (at) => matches(where, at))
    if (taken.length === 0 && where !== undefined && rest.length > 0 && !fitsAny) {
      return { kind: 'wave-matches-none', wave: index + 1 }
    }
    if (taken.length > 0) {
      sizes.push(taken.length)
      for (const at of taken) deviceIndexes.push(at)
    }
    rest = left
  }
  if (rest.length > 0 && fitsAny)
    return { sizes: [...sizes, rest.length], deviceIndexes: [...deviceIndexes, ...rest] }
  if (rest.length > 0) return { kind: 'not-all', missing: rest.length }
  return { sizes, deviceIndexes }
}

/** At least one. */
export function countOf(size: number | string, total: number): number {
  return typeof size === 'number' ? size : Math.max(1, countOfShare(Number.parseFloat(size), total))
}

function take(
  rest: number[],
  wanted: number,
  matches: ((index: number) => boolean) | undefined,
): { taken: number[]; left: number[] } {
  if (matches === undefined) return { taken: rest.slice(0, wanted), left: rest.slice(wanted) }
  const taken: number[] = []
  const left: number[] = []
  for (const index of rest) (taken.length < wanted && matches(index) ? taken : left).push(index)
  return { taken, left }
}

/** Fisher-Yates. */
function shuffle(items: number[], random: () => number): void {
  for (let end = items.length - 1; end > 0; end--) {
    const at = Math.floor(random() * (end + 1))
    const [one, other] = [items[end] as number, items[at] as number]
    items[end] = other
    items[at] = one
  }
}
