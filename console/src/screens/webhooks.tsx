// All webhooks, and how they are.

import type { Webhook } from '@jobcast/client'
import { useCallback, useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useEvery } from '../api/use-every.ts'
import { useList } from '../api/use-list.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
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
    cell: (webhook) => <a href={hrefOf(webhook)}>{webhook.webhookName}</a>,
  },
  { name: 'state', title: 'State', width: '130px', cell: (webhook) => <WebhookState webhook={webhook} /> },
  {
    name: 'url',
    title: 'Address',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ url }) => <code>{url}</code>,
  },
  {
    name: 'events',
    title: 'Told of',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: (webhook) => <span class="quiet">{eventsInWords(webhook)}</span>,
  },
  {
    name: 'delivered',
    title: 'Last accepted',
    width: '120px',
    isMinor: true,
    cell: ({ lastDeliveredAt }) =>
      lastDeliveredAt ? <RelativeTime at={lastDeliveredAt} /> : <span class="quiet">never</span>,
  },
]

/** No event tells of webhooks: an event for each would make another for each. */
const lookAgainMs = 5000

export default function WebhooksScreen() {
  const { can } = useScopes()
  const [isMaking, setMaking] = useState(false)
  const { list, rows, nextCursor, isLoading, error } = useList(lists.webhooks())
  useEvery(
    lookAgainMs,
    useCallback(() => void list.refresh(), [list]),
  )
  const isEmpty = rows.length === 0 && nextCursor === null
  return (
    <>
      <PageHeader title="Webhooks">
        {can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New webhook
          </button>
        )}
      </PageHeader>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {isEmpty && (
        <EmptyState icon="webhooks" title="No webhooks yet">
          <p>
            A webhook is an address of yours that is told of events: a run has finished, an execution has
            failed. {can('MANAGE') ? 'Make one with “New webhook”.' : 'A key with MANAGE can make one.'}
          </p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Webhooks"
          columns={columns}
          rows={rows}
          idOf={({ webhookName }) => webhookName}
          hrefOf={hrefOf}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
      {isMaking && <NewWebhook onClose={() => setMaking(false)} />}
    </>
  )
}
