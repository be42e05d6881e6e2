// One webhook: where it goes, how it is, and the log of what was sent.

import type { Webhook } from '@jobcast/client'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { queries } from '../api/queries.ts'
import { readAnew } from '../api/read-anew.ts'
import { useAction } from '../api/use-action.ts'
import { forgetRow } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { navigate } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { Deliveries } from './webhooks/deliveries.tsx'
import { EditWebhook } from './webhooks/edit-webhook.tsx'
import { takeSecret } from './webhooks/new-secret.ts'
import { eventsInWords } from './webhooks/webhook-draft.ts'
import { WebhookState } from './webhooks/webhook-state.tsx'
import './webhooks.css'

/** No event tells of what becomes of a webhook. */
const lookAgainMs = 2000

export default function WebhookScreen({ params }: { params: Record<string, string> }) {
  const name = params.webhookName as string
  const query = useQuery({ ...queries.webhook(name), refetchInterval: lookAgainMs })
  const { data: webhook, error } = query
  const [secret, setSecret] = useState<string>()
  // Of one that was made a moment ago.
  useEffect(() => setSecret(takeSecret(name)), [name])
  const isGone = isNotFound(error)
  return (
    <>
      <PageHeader title={name} about={webhook && !isGone && <WebhookState webhook={webhook} />}>
        {webhook && !isGone && <Actions webhook={webhook} onSecret={setSecret} />}
      </PageHeader>
      {isGone && (
        <EmptyState icon="webhooks" title="There is no such webhook">
          <p>
            <a href="/webhooks">All webhooks</a>
          </p>
        </EmptyState>
      )}
      {!webhook && !isGone && <ErrorNote error={error} onRetry={() => void query.refetch()} />}
      {secret !== undefined && (
        <SecretNote title="The secret of this webhook" secret={secret} onDone={() => setSecret(undefined)}>
          Your receiver checks with it that events come from here. It is shown this once.
        </SecretNote>
      )}
      {webhook && !isGone && (
        <>
          <About webhook={webhook} />
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
    await readAnew(['webhook', webhookName])
  })
  const remove = useCallback(async () => {
    await jobcast.webhooks.delete(webhookName)
    forgetRow(['webhooks'], webhookName)
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
            A new secret is made, and shown once. For a day events are signed with both, so that your receiver
            can be changed without haste.
          </p>
        }
        work={async () => onSecret((await jobcast.webhooks.rotateSecret(webhookName)).secret)}
      />
      <ConfirmButton
        label="Delete webhook"
        question={
          <p>
            Nothing more is sent to <strong>{webhookName}</strong>, and its log is gone. This cannot be
            undone.
          </p>
        }
        work={remove}
      />
      {isEditing && <EditWebhook webhook={webhook} onClose={() => setEditing(false)} />}
    </>
  )
}

function About({ webhook }: { webhook: Webhook }) {
  const { url, lastDeliveredAt, failingSince, createdAt } = webhook
  return (
    <section class="panel webhook-about" aria-label="About">
      <Facts
        facts={[
          { name: 'Address', value: <code>{url}</code> },
          { name: 'Told of', value: eventsInWords(webhook) },
          {
            name: 'Last accepted',
            value: lastDeliveredAt ? (
              <RelativeTime at={lastDeliveredAt} />
            ) : (
              <span class="quiet">nothing yet</span>
            ),
          },
          ...(failingSince === null ? [] : [{ name: 'Accepts nothing', value: <Since at={failingSince} /> }]),
          { name: 'Made', value: <RelativeTime at={createdAt} /> },
        ]}
      />
    </section>
  )
}

function Since({ at }: { at: string }) {
  return (
    <span class="is-failing">
      since <RelativeTime at={at} />
    </span>
  )
}
