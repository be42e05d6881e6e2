// Webhooks that cannot deliver, shown in the header of every screen, because their own screen is rarely visited.

import type { Webhook } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { useScopes } from '../scopes.ts'
import { formatCount } from './exec-state.ts'
import { Icon } from './icon.tsx'

/** There is no event when a webhook begins to fail. */
const pollMs = 60_000

export function FailingWebhooks() {
  const { can } = useScopes()
  const { data } = useQuery({
    ...queries.firstWebhooks(),
    enabled: can('READ'),
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

/** Includes webhooks paused because of failures, but not those paused by a person. */
export function isFailing({ state, failingSince, pausedBecause }: Webhook): boolean {
  return state === 'PAUSED' ? pausedBecause !== 'owner' : failingSince !== null
}
