// Rollouts and freezes -> API objects.

import {
  type ApprovalDecision,
  type Freeze,
  type RolloutProgress,
  toInstant,
  toInstantOrNull,
} from '@jobcast/contract'
import type { KeyNames } from '../../domain/access/key-names.ts'
import type { StoredFreeze } from '../../domain/rollout/ports/rollouts.ts'
import type { DecisionView, RolloutView } from '../../domain/rollout/view-rollout.ts'
import { toFailing } from './failing-to-wire.ts'

export function toRolloutProgress({ waves, gate, nextAt, ...view }: RolloutView): RolloutProgress {
  return {
    state: view.state,
    wave: view.wave,
    waves: waves.map(({ startedAt, passedAt, ...wave }) => ({
      ...wave,
      startedAt: toInstantOrNull(startedAt),
      passedAt: toInstantOrNull(passedAt),
    })),
    released: view.released,
    pausedBecause: view.pausedBecause,
    pausedBy: view.pausedBy,
    pausedByName: view.pausedByName,
    pausedCause: view.pausedCause,
    gate: gate && { ...gate, opensAt: toInstantOrNull(gate.opensAt) },
    stopRules: view.stopRules,
    nextAt: toInstantOrNull(nextAt),
    failing: toFailing(view.failing),
    definition: view.definition,
    approval: view.approval,
  }
}

export function toDecision({ principal, name, at, decision, comment }: DecisionView): ApprovalDecision {
  return { principal, name, at: toInstant(at), decision, comment }
}

export function toFreeze(stored: StoredFreeze | undefined, keyNames: KeyNames): Freeze {
  return {
    frozen: stored !== undefined,
    reason: stored?.reason ?? null,
    frozenBy: stored?.principal ?? null,
    frozenByName: keyNames(stored?.principal ?? null)?.keyName ?? null,
    since: toInstantOrNull(stored?.at ?? null),
    until: toInstantOrNull(stored?.until ?? null),
  }
}
