// Runs that wait for an approval, split by whether this key can approve them.

import type { Run } from '@jobcast/client'
import { useScopes } from '../scopes.ts'
import { queries } from './queries.ts'
import { useQuery } from './use-query.ts'

type Approvals = {
  /** Undefined while loading. */
  runs: Run[] | undefined
  /** Others must approve them: this key is involved in them, or has approved them already. */
  forOthers: Run[]
  hasMore: boolean
  error: unknown
  refetch: () => Promise<unknown>
}

export function useApprovals(): Approvals {
  const { can } = useScopes()
  const { data, error, refetch } = useQuery({
    ...queries.approvals(),
    enabled: can('APPROVE') && can('READ'),
    staleTime: 60_000,
  })
  const isOurs = ({ rollout }: Run) => rollout?.approval?.blockedBecause === null
  return {
    runs: data?.items.filter((run) => isOurs(run)),
    forOthers: data?.items.filter((run) => !isOurs(run)) ?? [],
    hasMore: data?.nextCursor != null,
    error,
    refetch,
  }
}
