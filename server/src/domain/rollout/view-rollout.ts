// A rollout as shown with its run.

import type { ApprovalBlock, AwaitedApproval, Rollout, RolloutState } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { type KeyNames, readKeyNames } from '../access/key-names.ts'
import { onWallClock, type WallInstant } from '../common/instants.ts'
import type { Failing } from '../common/ports/failing-tasks.ts'
import type { Store } from '../common/ports/store.ts'
import { type FailingDeps, readFailing } from '../common/read-failing.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import {
  actorsOf,
  countedDecisions,
  decisionsOf,
  hasDecided,
  neededApprovals,
  type StoredDecision,
} from './approval.ts'
import { digestOf } from './approval-digest.ts'
import { hasHand, lineageOfCaller } from './hands.ts'
import type { PauseCause } from './pause-cause.ts'
import type { StateCounts } from './ports/rollouts.ts'
import type { WaveCounts } from './ports/wave-counts.ts'
import type { StoredRollout } from './rollout.ts'
import { waveParts } from './rollout.ts'
import { type GateDeps, type GateView, viewGate, viewStopRules } from './view-gate.ts'

export type ViewDeps = FailingDeps &
  GateDeps & {
    store: Pick<Store, 'listRollouts' | 'findApiKey' | 'findEnrollment' | 'getWindow' | 'findGroups'>
    waveCounts: WaveCounts
  }

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
  pausedByName: string | null
  pausedCause: PauseCause | null
  gate: GateView | null
  stopRules: { count: number; ended: number }[]
  nextAt: WallInstant | null
  failing: Failing | null
  definition: Rollout
  /** Null: the run does not wait for an approval. */
  approval: AwaitedApproval | null
  decisions: DecisionView[]
}

export type DecisionView = StoredDecision & { name: string | null }

export type RolloutViews = ReadonlyMap<number, RolloutView>

/** By run id; runs without a rollout are left out. `withGates` reads the devices of each run, so it is for a single run. */
export async function viewRollouts(
  deps: ViewDeps,
  caller: Caller,
  runs: readonly StoredRun[],
  { withGates }: { withGates: boolean },
): Promise<RolloutViews> {
  const { ownerNo } = caller
  const found = await deps.store.listRollouts({ ownerNo, runIds: runs.map(({ runId }) => runId) })
  const named = found.flatMap(({ status }) => actorsOf(status))
  const keyNames = await readKeyNames(deps.store, ownerNo, deps.moment().at, named)
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const failing = await readFailing(
    deps,
    'rollout',
    found.filter(canFail).map(({ runId }) => runId),
  )
  const views = new Map<number, RolloutView>()
  for (const rollout of found) {
    const run = byId.get(rollout.runId)
    if (run) {
      const view = await viewRollout(deps, caller, rollout, run, { keyNames, withGate: withGates })
      views.set(rollout.runId, { ...view, failing: failing.get(rollout.runId) ?? null })
    }
  }
  return views
}

/** Rollouts in other states wait for a person, or have ended. */
function canFail({ status: { state, released }, total }: StoredRollout): boolean {
  if (state === 'ABORTED' || state === 'DENIED') return released < total
  return state === 'ROLLING_OUT' || state === 'SCHEDULED'
}

async function viewRollout(
  deps: ViewDeps,
  caller: Caller,
  rollout: StoredRollout,
  run: StoredRun,
  { keyNames, withGate }: { keyNames: KeyNames; withGate: boolean },
): Promise<Omit<RolloutView, 'failing'>> {
  const { status, plan, nextAt } = rollout
  const moment = deps.moment()
  const counts = await deps.waveCounts.recent(rollout, run.counts)
  const current = counts[status.wave] ?? {}
  const waves = waveParts(plan.sizes).map(({ from, to }, index) => {
    const times = status.waves[index]
    return {
      size: to - from,
      released: Math.max(0, Math.min(to, status.released) - from),
      counts: counts[index] as StateCounts,
      startedAt: onWallClock(times?.startedAt ?? null, moment),
      passedAt: onWallClock(times?.passedAt ?? null, moment),
    }
  })
  return {
    state: status.state,
    wave: status.wave + 1,
    waves,
    released: status.released,
    pausedBecause: status.pausedBecause,
    pausedBy: status.pausedBy,
    pausedByName: keyNames(status.pausedBy)?.keyName ?? null,
    pausedCause: status.pausedCause,
    gate: withGate ? await viewGate(deps, rollout, current) : null,
    stopRules: viewStopRules(rollout, { run: run.counts, wave: current }),
    nextAt: status.state === 'SCHEDULED' ? rollout.startAt : onWallClock(nextAt, moment),
    definition: plan.rollout,
    approval: await viewAwaited(deps, caller, rollout, run),
    decisions: decisionsOf(status).map((each) => ({
      ...each,
      name: keyNames(each.principal)?.keyName ?? null,
    })),
  }
}

async function viewAwaited(
  deps: ViewDeps,
  caller: Caller,
  rollout: StoredRollout,
  run: StoredRun,
): Promise<AwaitedApproval | null> {
  const { status, plan } = rollout
  if (status.state !== 'AWAITING_APPROVAL') return null
  const digest = await digestOf(deps, rollout, run)
  const given = countedDecisions(status, digest).length
  const blockedBecause = await blockOf(deps, caller, { rollout, run, digest })
  return { required: neededApprovals(plan), given, digest, blockedBecause }
}

/** Why decide-approval.ts would refuse the caller's decision. */
async function blockOf(
  deps: ViewDeps,
  caller: Caller,
  { rollout, run, digest }: { rollout: StoredRollout; run: StoredRun; digest: string },
): Promise<ApprovalBlock | null> {
  if (!caller.scopes.includes('APPROVE')) return 'SCOPE'
  const lineage = await lineageOfCaller(deps, caller)
  if (await hasHand(deps, lineage, rollout, run)) return 'INVOLVED'
  return hasDecided(rollout.status, digest, lineage) ? 'DECIDED' : null
}
