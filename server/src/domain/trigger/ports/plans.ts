// The part of the store's port for plans: what a dry run has shown, until it is started or too old.

import type { NewRun } from '@jobcast/contract'
import type { SteadyInstant } from '../../common/instants.ts'
import type { RunValues } from './runs.ts'

type PlanKey = { ownerNo: number; planId: string }

/** What the plan was made of, to be compared with what it would be made of. */
export type BoundTo = {
  /** The current version of the job, which says what holds it back, and that of the run. */
  currentNo: number
  versionNo: number
  /** A digest; null: it is under no window. */
  window: string | null
  /** How many devices it has, and a digest of them in the order of their release, wave by wave. */
  total: number
  devices: string
}

export type StoredPlan = {
  planId: string
  /** The principal that has planned it. */
  plannedBy: string
  createdAt: SteadyInstant
  /** As it was asked for. */
  request: Omit<NewRun, 'parameters'>
  /** Those that were given, without defaults; null: none were. */
  values: RunValues | null
  boundTo: BoundTo
}

/** `most`, `mostBytes`: of one owner. */
type KeptPlans = { most: number; mostBytes: number }

export type PlanStore = {
  /** Of what is too much afterwards the oldest are dropped. */
  keepPlan(plan: StoredPlan & { ownerNo: number } & KeptPlans): Promise<void>
  getPlan(plan: PlanKey): Promise<StoredPlan | undefined>
  /** The run that was started from it; undefined: none was, or it is purged. */
  findPlannedRun(plan: PlanKey): Promise<number | undefined>
  /** Purges some of them; true while there may be more. */
  purgePlans(age: { olderThan: SteadyInstant }): Promise<boolean>
}
