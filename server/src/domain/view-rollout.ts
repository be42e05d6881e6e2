// What a run shows of its rollout.

import type { ExecState, Rollout, RolloutState } from '@jobcast/contract'
import { execStates } from '@jobcast/contract/words'
import type { Moment } from './execution.ts'
import { onWallClock, type WallInstant } from './instants.ts'
import type { StateCounts, StoredRollout } from './ports/rollouts.ts'
import type { StoredRun } from './ports/runs.ts'
import type { Store } from './ports/store.ts'
import { isFinal, waveParts } from './rollout-progress.ts'

export type ViewDeps = { store: Pick<Store, 'listRollouts' | 'countRunPart'>; moment: () => Moment }

export type RolloutView = {
  state: RolloutState
  /** From 1. */
  wave: number
  waves: {
    size: number
    released: number
    counts: StateCounts
    startedAt: WallInstant | null
    passedAt: WallInstant | null
  }[]
  released: number
  pausedBecause: string | null
  pausedBy: string | null
  nextAt: WallInstant | null
  definition: Rollout
}

export type RolloutViews = ReadonlyMap<number, RolloutView>

/** By the ids of the runs; those without a rollout have none. */
export async function viewRollouts(
  deps: ViewDeps,
  ownerNo: number,
  runs: readonly StoredRun[],
): Promise<RolloutViews> {
  const found = await deps.store.listRollouts({ ownerNo, runIds: runs.map(({ runId }) => runId) })
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const views = new Map<number, RolloutView>()
  for (const rollout of found) {
    const run = byId.get(rollout.runId)
    if (run) views.set(rollout.runId, await viewRollout(deps, rollout, run.counts))
  }
  return views
}

async function viewRollout(deps: ViewDeps, rollout: StoredRollout, run: StateCounts): Promise<RolloutView> {
  const { status, plan, nextAt } = rollout
  const moment = deps.moment()
  const waves = waveParts(plan.sizes).map(async ({ from, to }, index) => {
    const times = status.waves[index]
    return {
      size: to - from,
      released: Math.max(0, Math.min(to, status.released) - from),
      counts: await countsOf(deps, rollout, run, { from, to }),
      startedAt: onWallClock(times?.startedAt ?? null, moment),
      passedAt: onWallClock(times?.passedAt ?? null, moment),
    }
  })
  return {
    state: status.state,
    wave: status.wave + 1,
    waves: await Promise.all(waves),
    released: status.released,
    pausedBecause: status.pausedBecause,
    pausedBy: status.pausedBy,
    nextAt: onWallClock(nextAt, moment),
    definition: plan.rollout,
  }
}

/** Counted only where the run itself does not say it. */
async function countsOf(
  { store }: ViewDeps,
  { ownerNo, runId, total, status }: StoredRollout,
  run: StateCounts,
  { from, to }: { from: number; to: number },
): Promise<StateCounts> {
  if (to - from === total) return run
  const isHeld = from >= status.released && !isFinal(status) && run.CANCELED === 0
  if (isHeld) return { ...zeros(), PENDING: to - from }
  return store.countRunPart({ ownerNo, runId, from, to })
}

function zeros(): StateCounts {
  return Object.fromEntries(execStates.map((state) => [state, 0])) as Record<ExecState, number>
}
