import type { Webhook } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { contentOf, draftOf, isValid } from './webhook-draft.ts'
import { WebhookFields } from './webhook-fields.tsx'

export function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhookName } = webhook
  const [draft, setDraft] = useState(() => draftOf(webhook))
  const save = async () => {
    await jobcast.webhooks.put(webhookName, contentOf(draft))
    await refreshKeys(['webhook', webhookName])
  }
  return (
    <FormDialog
      title={`Edit ${webhookName}`}
      submit="Save"
      canSubmit={isValid(draft)}
      work={save}
      onClose={onClose}
    >
      <WebhookFields draft={draft} onChange={setDraft} />
    </FormDialog>
  )
}
