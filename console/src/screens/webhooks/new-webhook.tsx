import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { navigate } from '../../router.ts'
import { leaveSecret } from './new-secret.ts'
import { contentOf, draftOf, isValid } from './webhook-draft.ts'
import { WebhookFields } from './webhook-fields.tsx'

/** Opens the new webhook, which shows its secret. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [draft, setDraft] = useState(() => draftOf())
  const webhookName = name.trim()
  const create = async () => {
    if (await isThere(() => jobcast.webhooks.get(webhookName))) {
      throw new Error(`A webhook named ${webhookName} already exists.`)
    }
    const put = await jobcast.webhooks.put(webhookName, contentOf(draft))
    if (put.created) leaveSecret(webhookName, put.value.secret)
    navigate(`/webhooks/${encodeURIComponent(webhookName)}`)
  }
  return (
    <FormDialog
      title="New webhook"
      submit="Create webhook"
      canSubmit={webhookName !== '' && isValid(draft)}
      work={create}
      onClose={onClose}
    >
      <TextField label="Name" required value={name} onInput={setName} placeholder="ops" />
      <WebhookFields draft={draft} onChange={setDraft} />
    </FormDialog>
  )
}
