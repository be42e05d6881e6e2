import type { Webhook } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { readAnew } from '../../api/read-anew.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { contentOf, draftOf, isGood } from './webhook-draft.ts'
import { WebhookFields } from './webhook-fields.tsx'

export function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhookName } = webhook
  const [draft, setDraft] = useState(() => draftOf(webhook))
  const save = async () => {
    await jobcast.webhooks.put(webhookName, contentOf(draft))
    await readAnew(['webhook', webhookName])
  }
  return (
    <FormDialog
      title={`Edit ${webhookName}`}
      submit="Save"
      canSubmit={isGood(draft)}
      work={save}
      onClose={onClose}
    >
      <WebhookFields draft={draft} onChange={setDraft} />
    </FormDialog>
  )
}
