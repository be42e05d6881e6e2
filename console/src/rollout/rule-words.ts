// Describes how near a stop rule is to stopping a run.

import type { RolloutProgress } from '@jobcast/client'
import { formatCount, stateStyles } from '../parts/exec-state.ts'

export type StopRule = NonNullable<RolloutProgress['definition']['stop']>[number]
export type Counted = RolloutProgress['stopRules'][number]

/** "6 of 110 failed (5.5 %), pauses at 5 %" */
export function ruleInWords(rule: StopRule, { count, ended }: Counted, rate: number): string {
  const { on, percent, count: limit, minEnded = 1, action, of } = rule
  const words = on.map((state) => stateStyles[state].word)
  const states = [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')
  const stops = action === 'ABORT' ? 'aborts' : 'pauses'
  const where = of === 'WAVE' ? ' in the current wave' : ''
  if (limit !== undefined) return `${formatCount(count)} ${states}${where}, ${stops} at ${formatCount(limit)}`
  const share = count > 0 ? ` (${Math.round(rate * 10) / 10} %)` : ''
  const from = ended < minEnded ? ` once ${formatCount(minEnded)} have ended` : ''
  return `${formatCount(count)} of ${formatCount(ended)} ${states}${where}${share}, ${stops} at ${percent} %${from}`
}
