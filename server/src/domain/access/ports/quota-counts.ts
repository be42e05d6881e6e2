// What quotas are counted by, under the rules of store.ts.

import type { QuotaName } from '../quotas.ts'

export type CountedQuota = Extract<
  QuotaName,
  | 'max-owner-executions'
  | 'max-owner-devices'
  | 'max-owner-jobs'
  | 'max-owner-keys'
  | 'max-owner-enrollments'
  | 'max-key-sessions'
>

/** `who`: the owner's number, or the id of a key. */
type Counted = { quota: CountedQuota; who: number | string; at: number }

export type QuotaCountStore = {
  /** How much of the quota is used at that instant. */
  countUsed(counted: Counted): Promise<number>
}

/** Keeps the counts, so that not every call has to read them. */
export type QuotaCounts = {
  /** Makes room for so many more, or says that there is none. What is reserved must be settled. */
  reserve(quota: CountedQuota, who: number | string, count?: number): boolean | Promise<boolean>
  /** What was reserved was created, or was not. */
  settle(quota: CountedQuota, who: number | string, count: number, created: boolean): void
  /** As far as it is known; an upper bound of what this node has created. */
  used(quota: CountedQuota, who: number | string): number
}
