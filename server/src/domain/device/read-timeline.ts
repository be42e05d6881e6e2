// How the counts of a run changed over time, in a bounded number of buckets: from the launch, when all executions are PENDING,
// through their state changes.

import { type ExecState, execStates } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import type { Flow } from './ports/fleet.ts'

export type TimelineDeps = { store: Store; now: () => number }

/** Of larger runs, only every n-th execution is read. */
const maxSampled = 20_000

export type Timeline = {
  run: StoredRun
  until: number
  stepMs: number
  sampled: number
  counts: Map<ExecState, number[]>
}

export async function readTimeline(
  { store, now }: TimelineDeps,
  { ownerNo }: Caller,
  runId: number,
  buckets: number,
): Promise<Timeline> {
  const run = await store.getRun({ ownerNo, runId })
  if (run === undefined) throw notFound('J-304', runId)
  const { launchedAt: from, total } = run
  const until = Math.max(from + 1, run.endedAt ?? now())
  const stepMs = Math.ceil((until - from) / buckets)
  const stride = Math.ceil(total / maxSampled)
  const flows = await store.countRunFlows({ ownerNo, runId, from, stepMs, stride })
  const sampled = Math.ceil(total / stride)
  const steps = Math.ceil((until - from) / stepMs)
  return { run, until, stepMs, sampled, counts: countsOf(run, flows, sampled, steps) }
}

/** The last bucket has the stored counts of the run, which are exact. */
function countsOf(run: StoredRun, flows: Flow[], sampled: number, steps: number): Map<ExecState, number[]> {
  const seen = new Set<ExecState>(['PENDING', ...flows.map(({ to }) => to)])
  const scale = run.total / sampled
  const counts = new Map<ExecState, number[]>()
  for (const state of execStates) {
    if (!seen.has(state) && run.counts[state] === 0) continue
    const levels = levelsOf(state, state === 'PENDING' ? sampled : 0, flows, steps)
    const scaled = levels.map((level) => Math.round(level * scale))
    counts.set(state, [...scaled.slice(0, -1), run.counts[state]])
  }
  return counts
}

function levelsOf(state: ExecState, first: number, flows: Flow[], steps: number): number[] {
  const changes = new Array<number>(steps).fill(0)
  for (const { stepNo, from, to, count } of flows) {
    // If the clock was set back, a step may be out of range.
    const step = Math.min(Math.max(stepNo, 0), steps - 1)
    changes[step] = (changes[step] ?? 0) + count * (Number(to === state) - Number(from === state))
  }
  let level = first
  return changes.map((change) => {
    level += change
    return level
  })
}
