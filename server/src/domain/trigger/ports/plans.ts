// The part of the store's port for plans: what a dry run has shown, until it expires.

import type { NewRun } from '@jobcast/contract'
import type { SteadyInstant } from '../../common/instants.ts'
import type { RunValues } from './runs.ts'

type PlanKey = { ownerNo: number; planId: string }

/** What the plan was built from, to compare it with what it would be built from later. */
export type BoundTo = {
  /** The current version of the job, which defines the release, and the version that the run uses. */
  currentNo: number
  versionNo: number
  /** Digest of the window; null: no window. */
  window: string | null
  /** The number of devices, and a digest of them in the order of their release, wave by wave. */
  total: number
  devices: string
}

export type StoredPlan = {
  planId: string
  /** The principal that created the plan. */
  plannedBy: string
  createdAt: SteadyInstant
  /** As requested. */
  request: Omit<NewRun, 'parameters'>
  /** The given parameters, without defaults; null: none. */
  values: RunValues | null
  boundTo: BoundTo
}

/** Limits per owner. */
type KeptPlans = { most: number; mostBytes: number }

export type PlanStore = {
  /** Drops the oldest plans beyond the limits. */
  keepPlan(plan: StoredPlan & { ownerNo: number } & KeptPlans): Promise<void>
  getPlan(plan: PlanKey): Promise<StoredPlan | undefined>
  /** The run that was started from the plan; undefined: none, or it was purged. */
  findPlannedRun(plan: PlanKey): Promise<number | undefined>
  /** Purges a batch; true while there may be more. */
  purgePlans(age: { olderThan: SteadyInstant }): Promise<boolean>
}
