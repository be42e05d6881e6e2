// Runs that wait for an approval which this key can give: not its own ones.

import type { Run } from '@jobcast/client'
import { useScopes } from '../scopes.ts'
import { queries } from './queries.ts'
import { shownSelf } from './self.ts'
import { useQuery } from './use-query.ts'

type Approvals = {
  /** Undefined while loading. */
  runs: Run[] | undefined
  /** Of this key: others must approve them. */
  own: Run[]
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
  const self = `key:${shownSelf.value?.keyId}`
  const isOwn = ({ createdBy }: Run) => createdBy === self
  return {
    runs: data?.items.filter((run) => !isOwn(run)),
    own: data?.items.filter(isOwn) ?? [],
    hasMore: data?.nextCursor != null,
    error,
    refetch,
  }
}
