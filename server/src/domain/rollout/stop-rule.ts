// Stop rules: which rule the ended executions meet, and its description.

import type { ExecState, Rollout } from '@jobcast/contract'
import { countIn, type EndedCounts, ends } from './gate.ts'
import { isShare } from './percent.ts'

export type StopRule = NonNullable<Rollout['stop']>[number]

/** `index`: its position in the list, from 0. */
export type MetRule = { rule: StopRule; index: number; matching: number; ended: number }

type Counted = { counts: EndedCounts; baseline: EndedCounts }

/** What a rule counts: executions that ended since the run was last resumed. */
export function countBy(
  { on }: StopRule,
  { counts, baseline }: Counted,
): { matching: number; ended: number } {
  return {
    matching: countIn(on, counts) - countIn(on, baseline),
    ended: countIn(ends, counts) - countIn(ends, baseline),
  }
}

/** The first rule that is met; rules without `countsOf` are skipped. */
export function findMet(
  rules: readonly StopRule[],
  countsOf: (rule: StopRule) => Counted | undefined,
): MetRule | undefined {
  for (const [index, rule] of rules.entries()) {
    const found = countsOf(rule)
    if (found === undefined) continue
    const { percent = 100, count, minEnded = 1 } = rule
    const { matching, ended } = countBy(rule, found)
    const isReached =
      count === undefined ? ended >= minEnded && isShare(matching, percent, ended) : matching >= count
    if (isReached && matching > 0) return { rule, index, matching, ended }
  }
  return undefined
}

/** `where`: "the run" */
export function wordsOfMet({ rule: { on }, matching, ended }: MetRule, where: string): string {
  return `${matching} of ${ended} ended executions of ${where} are ${on.join(' or ')}`
}

/** What the rule counted, for programs. */
export function countsOfMet({ rule: { on }, index, matching, ended }: MetRule) {
  const counted: { stopRule: number; on: ExecState[]; count: number; ended: number } = {
    stopRule: index + 1,
    on: [...on],
    count: matching,
    ended,
  }
  return { ...counted, percent: percentOf(matching, ended) }
}

export function percentOf(part: number, total: number): number {
  return Math.round((part * 1000) / total) / 10
}
