// The parts of a wave in the order of its lane: ended, failed, in progress, released, held.

import type { RolloutProgress } from '@jobcast/client'
import { failuresOf, formatCount } from '../parts/exec-state.ts'

export type Wave = RolloutProgress['waves'][number]

export const waveParts = ['succeeded', 'failed', 'canceled', 'running', 'released', 'held'] as const
type WavePart = (typeof waveParts)[number]
export type PartCounts = Record<WavePart, number>

export function partsOf({ size, released, counts }: Pick<Wave, 'size' | 'released' | 'counts'>): PartCounts {
  // Executions that were canceled before their release are no longer held.
  const held = Math.min(counts.PENDING, Math.max(0, size - released))
  return {
    succeeded: counts.SUCCEEDED,
    failed: failuresOf(counts),
    canceled: counts.CANCELED,
    running: counts.IN_PROGRESS + counts.CANCELING,
    released: counts.PENDING - held,
    held,
  }
}

export const nothing: PartCounts = {
  succeeded: 0,
  failed: 0,
  canceled: 0,
  running: 0,
  released: 0,
  held: 0,
}

export function sumParts(waves: readonly Wave[]): PartCounts {
  const sum = { ...nothing }
  for (const wave of waves) {
    const parts = partsOf(wave)
    for (const part of waveParts) sum[part] += parts[part]
  }
  return sum
}

export const partWords: Record<WavePart, string> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  running: 'running',
  released: 'not started',
  held: 'held back',
}

/** "5 succeeded, 2 running, 93 held back" */
export function partsInWords(parts: PartCounts): string {
  return waveParts
    .filter((part) => parts[part] > 0)
    .map((part) => `${formatCount(parts[part])} ${partWords[part]}`)
    .join(', ')
}
