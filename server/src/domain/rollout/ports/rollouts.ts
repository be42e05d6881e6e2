// The part of the store's port for runs that are released little by little, under the rules of store.ts.

import type { ExecState, RolloutState } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { SteadyInstant, WallInstant } from '../../common/instants.ts'
import type { Moment } from '../../execution/execution.ts'
import type { RunKey } from '../../trigger/ports/runs.ts'
import type { BudgetFound } from '../budget.ts'
import type { RolloutStatus } from '../judge-rollout.ts'
import type { RolloutEvent, RolloutPlan, StoredRollout } from '../rollout.ts'

export type StateCounts = Record<ExecState, number>

/** A rollout that goes on by itself or must be ended, and what it depends on. */
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

/** `waves`: how many executions of each wave are in each state, of those that are asked for. */
export type RolloutFactsFound = { rollout: StoredRollout; keyId: string | null; run: StateCounts }

export type RolloutChange = {
  /** As it was read: whoever changed it since is not overruled. */
  before: StoredRollout
  status: RolloutStatus
  nextAt: SteadyInstant | null
  plan?: RolloutPlan
  /** Nothing is held back any more although not all was released. */
  isOver?: boolean
  events: RolloutEvent[]
  moment: Moment
}

/** Executions that were released and wait for their devices. */
export type ReleasedPart = {
  runId: number
  jobVersion: number
  launchedAt: WallInstant
  executions: { jobExecutionId: number; deviceId: string }[]
  /** They may be offered to a device only while a window is open there. */
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
  /** All that a ticker must look at, of all owners. */
  listOpenRollouts(): Promise<OpenRollout[]>
  /** Undefined: there is no such run, or it has no rollout. */
  getRollout(run: RunKey): Promise<RolloutFactsFound | undefined>
  /** Those of these runs that have one. */
  listRollouts(runs: { ownerNo: number; runIds: number[] }): Promise<StoredRollout[]>
  /** By states: the executions at these positions of the run, and all of it at the same instant. */
  countRunParts(
    run: RunKey & { parts: { from: number; to: number }[] },
  ): Promise<{ run: StateCounts; parts: StateCounts[] }>
  /** Positions from the first execution of the run on; `from`: all before have ended. `by`: the name of an attribute. */
  readBudget(part: {
    ownerNo: number
    by: string
    first: number
    from: number
    released: number
    to: number
  }): Promise<BudgetFound>
  /** Some of those with these ids that are in one of these states, those that ended last first. */
  listEndedPart(part: {
    ownerNo: number
    first: number
    last: number
    execStates: readonly ExecState[]
    limit: number
  }): Promise<{ jobExecutionId: number; deviceId: string; execState: ExecState }[]>
  /** How many of those that have not ended there are on devices that are not connected. */
  countOffline(part: RunPart): Promise<number>
  /** Those of these devices that match. */
  matchDevices(devices: { ownerNo: number; where: Selector; deviceIds: string[] }): Promise<string[]>
  /** How many of those that succeeded there are on devices that match. */
  countConfirmed(part: RunPart & { where: Selector }): Promise<number>
  /** False: it was changed since it was read, and nothing happened. */
  changeRollout(change: RolloutChange): Promise<boolean>
  listReleased(part: RunPart): Promise<ReleasedPart | undefined>

  /** Undefined: it is not frozen. */
  getFreeze(owner: { ownerNo: number }): Promise<StoredFreeze | undefined>
  listFreezes(): Promise<(StoredFreeze & { ownerNo: number })[]>
  /** False: it is frozen already, and the reason was replaced. */
  freezeFleet(freeze: StoredFreeze & { ownerNo: number; clock: SteadyInstant }): Promise<boolean>
  /** False: it was not frozen. `expiredBy`: only if its time is over by then. */
  unfreezeFleet(freeze: {
    ownerNo: number
    principal: string
    at: WallInstant
    clock: SteadyInstant
    expiredBy?: WallInstant
  }): Promise<boolean>
}
