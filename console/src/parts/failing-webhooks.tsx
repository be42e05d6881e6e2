// In the header of every screen: webhooks that cannot deliver. Nobody looks for them where they are.

import type { Webhook } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { useScopes } from '../scopes.ts'
import { formatCount } from './exec-state.ts'
import { Icon } from './icon.tsx'

/** A webhook begins to fail without an event: that would be delivered to it. */
const pollMs = 60_000

export function FailingWebhooks() {
  const { can, isRestricted } = useScopes()
  const { data } = useQuery({
    ...queries.firstWebhooks(),
    enabled: can('READ') && !isRestricted,
    refetchInterval: pollMs,
    staleTime: pollMs,
  })
  const failing = data?.items.filter(isFailing) ?? []
  const [first] = failing
  if (first === undefined) return null
  const href = failing.length === 1 ? `/webhooks/${encodeURIComponent(first.webhookName)}` : '/webhooks'
  return (
    <a class="failing-webhooks" href={href}>
      <Icon name="warning" />
      {failing.length === 1 ? '1 webhook fails' : `${formatCount(failing.length)} webhooks fail`}
    </a>
  )
}

/** Also one that was paused for it. Not one that somebody has paused. */
export function isFailing({ state, failingSince, pausedBecause }: Webhook): boolean {
  return state === 'PAUSED' ? pausedBecause !== 'owner' : failingSince !== null
}
