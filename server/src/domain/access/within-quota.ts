// Creates something that a quota counts.

import type { CountedQuota, QuotaCounts } from './ports/quota-counts.ts'
import { overQuota, type Quotas } from './quotas.ts'

export type QuotaDeps = { quotas: Quotas; quotaCounts: QuotaCounts }

/**
 * `isCreated`: whether the result is something new. `mayReplace`: whether it exists already and so needs no room; called only
 * if none is left.
 */
export async function withinQuota<T>(
  { quotas, quotaCounts }: QuotaDeps,
  quota: CountedQuota,
  who: number | string,
  create: () => Promise<T>,
  {
    isCreated = () => true,
    mayReplace = async () => false,
  }: { isCreated?: (result: T) => boolean; mayReplace?: () => Promise<boolean> } = {},
): Promise<T> {
  if (quotas[quota] === 0) return create()
  if (!(await quotaCounts.reserve(quota, who))) {
    if (await mayReplace()) return create()
    throw overQuota(quota, quotas[quota])
  }
  let created = false
  try {
    const result = await create()
    created = isCreated(result)
    return result
  } finally {
    quotaCounts.settle(quota, who, 1, created)
  }
}
