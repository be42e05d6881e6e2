// One webhook: its settings, its state, and the log of deliveries.

import type { Webhook } from '@jobcast/client'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { queries } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { useAction } from '../api/use-action.ts'
import { removeRow } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Facts } from '../parts/facts.tsx'
import { Maker } from '../parts/maker.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Elapsed, RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { navigate } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { Deliveries } from './webhooks/deliveries.tsx'
import { EditWebhook } from './webhooks/edit-webhook.tsx'
import { takeSecret } from './webhooks/new-secret.ts'
import { TestWebhook } from './webhooks/test-webhook.tsx'
import { eventsInWords, formatWords } from './webhooks/webhook-draft.ts'
import { WebhookState } from './webhooks/webhook-state.tsx'
import './webhooks.css'

/** Deliveries have no events: each would cause another delivery. */
const pollMs = 2000

export default function WebhookScreen({ params }: { params: Record<string, string> }) {
  const name = params.webhookName as string
  const query = useQuery({ ...queries.webhook(name), refetchInterval: pollMs })
  const { data: webhook, error } = query
  const [secret, setSecret] = useState<string>()
  // The secret of a webhook that was just created.
  useEffect(() => setSecret(takeSecret(name)), [name])
  const isGone = isNotFound(error)
  const { can } = useScopes()
  return (
    <>
      <PageHeader title={name} about={webhook && !isGone && <WebhookState webhook={webhook} />}>
        {webhook && !isGone && <Actions webhook={webhook} onSecret={setSecret} />}
      </PageHeader>
      {isGone && (
        <EmptyState icon="webhooks" title="Webhook not found">
          <p>
            <a href="/webhooks">All webhooks</a>
          </p>
        </EmptyState>
      )}
      {!webhook && !isGone && <ErrorNote error={error} onRetry={() => void query.refetch()} />}
      {secret !== undefined && (
        <SecretNote title="Webhook secret" secret={secret} onDone={() => setSecret(undefined)}>
          Your receiver verifies signatures with it. It is shown only once.
        </SecretNote>
      )}
      {webhook && !isGone && (
        <>
          <About webhook={webhook} />
          {can('MANAGE') && <TestWebhook webhookName={name} />}
          <Deliveries webhookName={name} />
        </>
      )}
    </>
  )
}

function Actions({ webhook, onSecret }: { webhook: Webhook; onSecret: (secret: string) => void }) {
  const { can } = useScopes()
  const [isEditing, setEditing] = useState(false)
  const { webhookName, state } = webhook
  const pauseOrResume = useAction(async () => {
    if (state === 'ACTIVE') await jobcast.webhooks.pause(webhookName)
    else await jobcast.webhooks.resume(webhookName)
    await refreshKeys(['webhook', webhookName])
  })
  const remove = useCallback(async () => {
    await jobcast.webhooks.delete(webhookName)
    removeRow(['webhooks'], webhookName)
    navigate('/webhooks')
  }, [webhookName])
  if (!can('MANAGE')) return null
  return (
    <>
      <ErrorNote error={pauseOrResume.error} />
      <button
        type="button"
        class={state === 'PAUSED' ? 'primary' : ''}
        disabled={pauseOrResume.isRunning}
        onClick={() => pauseOrResume.run()}
      >
        {state === 'ACTIVE' ? 'Pause' : 'Resume'}
      </button>
      <button type="button" onClick={() => setEditing(true)}>
        Edit
      </button>
      <ConfirmButton
        label="New secret"
        isHarmless
        question={
          <p>
            A new secret is created and shown only once. For a day events are signed with both, so that you
            can change the receiver in the meantime.
          </p>
        }
        work={async () => onSecret((await jobcast.webhooks.rotateSecret(webhookName)).secret)}
      />
      <ConfirmButton
        label="Delete webhook"
        question={
          <p>
            <strong>{webhookName}</strong> receives no more events, and its delivery log is deleted. This
            cannot be undone.
          </p>
        }
        work={remove}
      />
      {isEditing && <EditWebhook webhook={webhook} onClose={() => setEditing(false)} />}
    </>
  )
}

function About({ webhook }: { webhook: Webhook }) {
  const { can } = useScopes()
  const { url, lastDeliveredAt, lastFailure, failingSince, createdAt, jobs, where } = webhook
  const { createdBy, createdByName, createdBySession } = webhook
  return (
    <section class="panel webhook-about" aria-label="About">
      <Facts
        facts={[
          {
            name: 'URL',
            value: (
              <>
                <code>{url}</code>
                {!can('MANAGE') && <span class="quiet"> (path hidden: needs MANAGE)</span>}
              </>
            ),
          },
          { name: 'Format', value: formatWords[webhook.format] },
          { name: 'Events', value: eventsInWords(webhook) },
          ...(jobs === null ? [] : [{ name: 'Only jobs', value: jobs.join(', ') }]),
          ...(where === null ? [] : [{ name: 'Only devices', value: <code>{where}</code> }]),
          {
            name: 'Last delivered',
            value: lastDeliveredAt ? <RelativeTime at={lastDeliveredAt} /> : <span class="quiet">never</span>,
          },
          ...(failingSince === null
            ? []
            : [{ name: 'Failing for', value: <FailingFor since={failingSince} /> }]),
          ...(lastFailure === null
            ? []
            : [
                {
                  name: 'Last failure',
                  value: (
                    <>
                      <RelativeTime at={lastFailure.at} />: {lastFailure.error}
                    </>
                  ),
                },
              ]),
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Created by', value: <Maker {...{ createdBy, createdByName, createdBySession }} /> },
        ]}
      />
    </section>
  )
}

function FailingFor({ since }: { since: string }) {
  return (
    <span class="is-failing">
      <Elapsed since={since} />
    </span>
  )
}
