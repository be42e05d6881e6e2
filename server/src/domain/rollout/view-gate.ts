// What the gate after the current wave still waits for, and what each stop rule has counted so far.

import { laterBy, onWallClock, type WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { type EndedCounts, gateOf } from './gate.ts'
import { countedOf, hasPassed } from './judge-rollout.ts'
import type { GateCount, GateCounts } from './ports/gate-counts.ts'
import { currentPart, type RollOutDeps } from './roll-out.ts'
import type { StoredRollout } from './rollout.ts'
import { countBy } from './stop-rule.ts'

export type GateView = {
  size: number
  needed: number
  succeeded: number
  possible: number
  offline: number
  opensAt: WallInstant | null
}

export type GateDeps = { gateCounts: GateCounts; moment: () => Moment }

/** `wave`: counts of the current wave. Null: the run does not wait for a gate. */
export async function viewGate(
  { gateCounts, moment }: GateDeps,
  rollout: StoredRollout,
  wave: EndedCounts,
): Promise<GateView | null> {
  const { status, plan } = rollout
  const isGoing = status.state === 'ROLLING_OUT' || status.state === 'PAUSED'
  if (!isGoing || status.wave >= plan.sizes.length - 1 || hasPassed(status)) return null
  const { offline, confirmed } = await gateCounts.recent(rollout)
  const facts = { size: plan.sizes[status.wave] ?? 0, wave, confirmed, accepted: status.accepted }
  const { size, needed, succeeded, possible } = gateOf(plan.rollout, facts)
  const { gateSince } = status
  const soakMs = (plan.rollout.next?.soakSeconds ?? 0) * 1000
  const isSoaking = status.state === 'ROLLING_OUT' && gateSince !== null
  const opensAt = isSoaking ? onWallClock(laterBy(soakMs, gateSince), moment()) : null
  return { size, needed, succeeded, possible, offline, opensAt }
}

type CountDeps = Pick<RollOutDeps, 'countConfirmed'> & { store: Pick<Store, 'countOffline'> }

/** Reads the devices of the current wave. */
export async function countAtGate(
  { store, countConfirmed }: CountDeps,
  rollout: StoredRollout,
): Promise<GateCount> {
  const part = currentPart(rollout)
  const where = rollout.plan.rollout.next?.where
  const [offline, confirmed] = await Promise.all([
    store.countOffline({ ...part, to: Math.min(part.to, Math.max(part.from, rollout.status.released)) }),
    where === undefined ? 0 : countConfirmed({ ...part, where }),
  ])
  return { offline, confirmed }
}

export function viewStopRules(
  { status, plan }: StoredRollout,
  facts: { run: EndedCounts; wave: EndedCounts },
): { count: number; ended: number }[] {
  return (plan.rollout.stop ?? []).map((rule) => {
    const { matching, ended } = countBy(rule, countedOf(rule, status, facts))
    // Counts of a large run may be older than their baseline.
    return { count: Math.max(0, matching), ended: Math.max(0, ended) }
  })
}
