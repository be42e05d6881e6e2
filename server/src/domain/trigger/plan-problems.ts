// Warnings of a plan: the run can be created, but would not do what the caller seems to want.

import type { Rollout } from '@jobcast/contract'

type StopRule = NonNullable<Rollout['stop']>[number]

/** `sizes`: of the waves. Reports rules that can be met only after everything is released. */
export function findStopProblems(
  { stop = [], ratePerMinute, maxUnderWay, budget }: Rollout,
  sizes: readonly number[],
): string[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total === 0) return []
  const isPaced = ratePerMinute !== undefined || budget !== undefined || (maxUnderWay ?? total) < total
  if (sizes.length === 1 && !isPaced && stop.length > 0) {
    return [
      'The stop rules can hold nothing back: the run has one wave without a rate, so all of it is released at once.',
    ]
  }
  return stop.flatMap((rule, index) => {
    const most = mostEnded(rule, sizes, isPaced)
    const needed = neededBy(rule)
    if (needed.count <= most) return []
    const where = rule.of === 'WAVE' ? 'of a wave' : 'of the run'
    return [
      `The stop rule rollout.stop[${index}] can hold nothing back: its ${needed.name} is ${needed.count}, and at most ${most} ` +
        `${most === 1 ? 'execution' : 'executions'} ${where} can end before all of it is released.`,
    ]
  })
}

function neededBy({ count, minEnded = 1 }: StopRule): { name: string; count: number } {
  return count === undefined ? { name: 'minEnded', count: minEnded } : { name: 'count', count }
}

/** How many executions that the rule counts can end before everything is released. */
function mostEnded({ of }: StopRule, sizes: readonly number[], isPaced: boolean): number {
  const last = sizes.at(-1) ?? 0
  const before = sizes.slice(0, -1)
  const ofLast = isPaced ? last - 1 : 0
  if (of === 'WAVE') return Math.max(ofLast, ...before)
  return before.reduce((sum, size) => sum + size, 0) + ofLast
}

/** Time limits run only while the window is open, so one shorter than the wait may surprise. */
export function findExpiryProblems(
  { expireAfterSeconds }: { expireAfterSeconds: number | null },
  windowWaitMs: number,
): string[] {
  if (windowWaitMs === Infinity)
    return ['The window never opens again: no device would ever be offered the run.']
  if (expireAfterSeconds === null || windowWaitMs === 0 || expireAfterSeconds * 1000 > windowWaitMs) return []
  const wait = Math.ceil(windowWaitMs / 1000)
  return [
    `expireAfterSeconds of the job, ${expireAfterSeconds}, is shorter than the wait for the window, up to ${wait} s: ` +
      'it runs only while the window is open, so executions expire later than that.',
  ]
}
