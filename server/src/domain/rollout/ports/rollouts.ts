// The part of the store's port for rollouts, under the rules of store.ts.

import type { ExecState, RolloutState } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { RunKey } from '../../trigger/ports/runs.ts'
import type { BudgetFound } from '../budget.ts'
import type { RolloutStatus } from '../judge-rollout.ts'
import type { RolloutEvent, RolloutPlan, StoredRollout } from '../rollout.ts'

export type StateCounts = Record<ExecState, number>

/** A rollout that continues automatically or must be ended, and what it depends on. */
export type OpenRollout = {
  runId: number
  ownerNo: number
  state: RolloutState
  version: number
  nextAt: SteadyInstant | null
  startAt: WallInstant | null
  ended: number
  succeeded: number
  unfinished: number
}

/** `run`: counts of the whole run. `keyId`: the key that created it. */
export type RolloutFactsFound = { rollout: StoredRollout; keyId: string | null; run: StateCounts }

export type RolloutChange = {
  /** As it was read: nothing is written if the rollout has changed since. */
  before: StoredRollout
  status: RolloutStatus
  nextAt: SteadyInstant | null
  plan?: RolloutPlan
  /** Nothing is held back any more, although not everything was released. */
  isOver?: boolean
  events: RolloutEvent[]
  /** Executions of the run to cancel: nothing is written unless all of them are PENDING. */
  cancels?: { jobExecutionIds: number[]; actor: string }
  moment: Moment
}

/** Executions that were released and wait for their devices. */
export type ReleasedPart = {
  runId: number
  jobVersion: number
  launchedAt: WallInstant
  executions: { jobExecutionId: number; deviceId: string }[]
  /** They may be offered only while the device's window is open. */
  isWindowed?: true
  /** Undefined: the default. */
  priority?: number
}

/** Positions in the run, `to` not included. */
export type RunPart = RunKey & { from: number; to: number }

export type StoredFreeze = {
  reason: string
  principal: string
  at: WallInstant
  until: WallInstant | null
}

export type RolloutStore = {
  /** All rollouts that a ticker must judge, of all owners. */
  listOpenRollouts(): Promise<OpenRollout[]>
  /** Undefined: there is no such run, or it has no rollout. */
  getRollout(run: RunKey): Promise<RolloutFactsFound | undefined>
  /** The rollouts of these runs; runs without one are left out. */
  listRollouts(runs: { ownerNo: number; runIds: number[] }): Promise<StoredRollout[]>
  /** Counts by state of these parts and of the whole run, in one snapshot. */
  countRunParts(
    run: RunKey & { parts: { from: number; to: number }[] },
  ): Promise<{ run: StateCounts; parts: StateCounts[] }>
  /** Positions count from `first`, the run's first execution. `from`: all before have ended. `by`: the name of an attribute. */
  readBudget(part: {
    ownerNo: number
    by: string
    first: number
    from: number
    released: number
    to: number
  }): Promise<BudgetFound>
  /** Executions of this id range in one of these states, latest ended first. */
  listEndedPart(part: {
    ownerNo: number
    first: number
    last: number
    execStates: readonly ExecState[]
    limit: number
  }): Promise<{ jobExecutionId: number; deviceId: string; execState: ExecState }[]>
  /** Counts unfinished executions whose devices are not connected. */
  countOffline(part: RunPart): Promise<number>
  /** Returns those of the devices that match. */
  matchDevices(devices: { ownerNo: number; where: Selector; deviceIds: string[] }): Promise<string[]>
  /** Counts succeeded executions whose devices match. */
  countConfirmed(part: RunPart & { where: Selector }): Promise<number>
  /** False: the rollout, or an execution to cancel, has changed since it was read, and nothing was written. */
  changeRollout(change: RolloutChange): Promise<boolean>
  listReleased(part: RunPart): Promise<ReleasedPart | undefined>

  /** Undefined: the fleet is not frozen. */
  getFreeze(owner: { ownerNo: number }): Promise<StoredFreeze | undefined>
  listFreezes(): Promise<(StoredFreeze & { ownerNo: number })[]>
  /** False: the fleet was frozen already, and the reason was replaced. */
  freezeFleet(freeze: StoredFreeze & { ownerNo: number; clock: SteadyInstant }): Promise<boolean>
  /** False: the fleet was not frozen. `expiredBy`: only if the freeze has expired by then. */
  unfreezeFleet(freeze: {
    ownerNo: number
    principal: string
    at: WallInstant
    clock: SteadyInstant
    expiredBy?: WallInstant
  }): Promise<boolean>
}
