// Statistics of executions launched in a time range, by time and by job.

import { ApiError, type ExecState, execStates } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { reachOf } from '../access/device-reach.ts'
import { jobFilterOf } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import type { CachedCounts } from './cached-counts.ts'
import type { Duration, LaunchedCounts } from './ports/stats.ts'
import { readStatsWithin } from './read-stats-within.ts'

export type StatsDeps = { store: Store; cachedCounts: CachedCounts; now: () => number }

// Limits of what one request reads.
const maxRuns = 50_000
const maxDurations = 20_000
const maxJobs = 50
const dayMs = 24 * 60 * 60_000

/** Canceled and expired executions are excluded, because they say nothing about the job's success rate. */
const ratedEnds = ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED'] as const

export type Figures = {
  total: number
  counts: Record<ExecState, number>
  successRate: number | null
  durationMs: { p50: number; p95: number } | null
}

type StatsRange = {
  from?: number | undefined
  until?: number | undefined
  jobName?: string | undefined
  buckets: number
}

export type StatsFound = {
  from: number
  until: number
  stepMs: number
  completeFrom: number
  sampled: number
  overall: Figures
  buckets: (Figures & { from: number })[]
  jobs: (Figures & { jobName: string })[]
}

export async function readStats(deps: StatsDeps, caller: Caller, range: StatsRange): Promise<StatsFound> {
  const where = reachOf(caller)
  if (where === undefined) return countStats(deps, caller, range)
  const question = ['stats', where, jobFilterOf(caller), range]
  return deps.cachedCounts.read(caller.ownerNo, question, () => countStats(deps, caller, range))
}

async function countStats(
  { store, now }: StatsDeps,
  caller: Caller,
  { jobName, buckets, ...range }: StatsRange,
): Promise<StatsFound> {
  const to = range.until ?? now()
  const from = range.from ?? to - dayMs
  if (from >= to) {
    throw new ApiError('J-500', {
      field: 'launchedBefore',
      detail: 'launchedBefore must be later than launchedAfter.',
    })
  }
  const stepMs = Math.ceil((to - from) / buckets)
  const limits = { maxRuns, maxDurations }
  const ofJobs = { ...jobFilterOf(caller), ...(jobName !== undefined && { jobName }) }
  const asked = { ownerNo: caller.ownerNo, from, to, stepMs, ...limits, ...ofJobs }
  const where = reachOf(caller)
  const found = await (where ? readStatsWithin(store, { ...asked, where }) : store.readStats(asked))
  const { launched, durations, completeFrom = from } = found
  const steps = Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, stepNo) => stepNo)
  const byStep = groupBy(launched, durations, ({ stepNo }) => stepNo)
  const byJob = groupBy(launched, durations, (each) => each.jobName)
  const jobs = [...byJob].map(([name, group]) => ({ jobName: name, ...group.figures() }))
  return {
    ...{ from, until: to, stepMs, completeFrom, sampled: durations.length },
    overall: Group.of(launched, durations).figures(),
    buckets: steps.map((stepNo) => ({
      from: from + stepNo * stepMs,
      ...(byStep.get(stepNo) ?? new Group()).figures(),
    })),
    jobs: jobs.sort((one, other) => other.total - one.total).slice(0, maxJobs),
  }
}

class Group {
  readonly #counts = Object.fromEntries(execStates.map((state) => [state, 0])) as Record<ExecState, number>
  readonly #durations: number[] = []
  #total = 0

  static of(launched: LaunchedCounts[], durations: Duration[]): Group {
    const group = new Group()
    for (const each of launched) group.add(each)
    for (const { ms } of durations) group.addDuration(ms)
    return group
  }

  add({ total, counts }: LaunchedCounts): void {
    this.#total += total
    for (const state of execStates) this.#counts[state] += counts[state]
  }

  addDuration(ms: number): void {
    this.#durations.push(Math.max(0, ms))
  }

  figures(): Figures {
    const ended = ratedEnds.reduce((sum, state) => sum + this.#counts[state], 0)
    const sorted = this.#durations.sort((one, other) => one - other)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return {
      total: this.#total,
      counts: this.#counts,
      successRate: ended === 0 ? null : Math.round((this.#counts.SUCCEEDED / ended) * 10_000) / 10_000,
      durationMs: sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) },
    }
  }
}

function groupBy<Key>(
  launched: LaunchedCounts[],
  durations: Duration[],
  keyOf: (each: LaunchedCounts | Duration) => Key,
): Map<Key, Group> {
  const groups = new Map<Key, Group>()
  const groupOf = (each: LaunchedCounts | Duration) => {
    const group = groups.get(keyOf(each)) ?? new Group()
    groups.set(keyOf(each), group)
    return group
  }
  for (const each of launched) groupOf(each).add(each)
  for (const each of durations) groupOf(each).addDuration(each.ms)
  return groups
}
