// All webhooks, with their state.

import type { Webhook } from '@jobcast/client'
import { useCallback, useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useEvery } from '../api/use-every.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { NewWebhook } from './webhooks/new-webhook.tsx'
import { eventsInWords } from './webhooks/webhook-draft.ts'
import { WebhookState } from './webhooks/webhook-state.tsx'

const hrefOf = ({ webhookName }: Webhook) => `/webhooks/${encodeURIComponent(webhookName)}`

const columns: Column<Webhook>[] = [
  {
    name: 'name',
    title: 'Webhook',
    width: 'minmax(0, 2fr)',
    sortBy: ({ webhookName }) => webhookName,
    cell: (webhook) => <a href={hrefOf(webhook)}>{webhook.webhookName}</a>,
  },
  {
    name: 'state',
    title: 'State',
    width: '130px',
    sortBy: ({ state, failingSince }) => `${state} ${failingSince ?? ''}`,
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
  {
    name: 'url',
    title: 'URL',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ url }) => <code>{url}</code>,
  },
  {
    name: 'events',
    title: 'Events',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: (webhook) => <span class="quiet">{eventsInWords(webhook)}</span>,
  },
  {
    name: 'delivered',
    title: 'Last delivered',
    width: '120px',
    isMinor: true,
    sortBy: ({ lastDeliveredAt }) => lastDeliveredAt,
    cell: ({ lastDeliveredAt }) =>
      lastDeliveredAt ? <RelativeTime at={lastDeliveredAt} /> : <span class="quiet">never</span>,
  },
]

/** Deliveries have no events: each would cause another delivery. */
const pollMs = 5000

export default function WebhooksScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [isCreating, setCreating] = useState(false)
  const webhooks = useList(lists.webhooks())
  const { list } = webhooks
  useEvery(
    pollMs,
    useCallback(() => void list.refresh(), [list]),
  )
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New webhook
          </button>
        )
      }
      list={webhooks}
      columns={columns}
      hrefOf={hrefOf}
      empty={<NoWebhooks />}
    >
      {isCreating && <NewWebhook onClose={() => setCreating(false)} />}
    </ListScreen>
  )
}

function NoWebhooks() {
  const { can } = useScopes()
  return (
    <EmptyState icon="webhooks" title="No webhooks yet">
      <p>
        A webhook sends events to a URL of yours: a run has finished, an execution has failed.{' '}
        {can('MANAGE') ? 'Create one with “New webhook”.' : 'A key with the MANAGE scope can create one.'}
      </p>
    </EmptyState>
  )
}
