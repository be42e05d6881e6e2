// The part of the store's port for quotas, under the rules of store.ts.

import type { QuotaName } from '../quotas.ts'

export type CountedQuota = Extract<
  QuotaName,
  'executions' | 'devices' | 'jobs' | 'keys' | 'enrollments' | 'key-sessions'
>

/** `who`: the owner's number, or the id of a key. */
type Counted = { quota: CountedQuota; who: number | string; at: number }

export type QuotaCountStore = {
  /** How much of the quota is used at that instant. */
  countUsed(counted: Counted): Promise<number>
}

/** Caches the counts, so that not every call has to read them. */
export type QuotaCounts = {
  /** Reserves room for `count` more; false if there is none. A reservation must be settled. */
  reserve(quota: CountedQuota, who: number | string, count?: number): boolean | Promise<boolean>
  /** Ends a reservation: what was reserved was created, or not. */
  settle(quota: CountedQuota, who: number | string, count: number, created: boolean): void
  /** The cached count; an upper bound of what this node has created. */
  used(quota: CountedQuota, who: number | string): number
}
