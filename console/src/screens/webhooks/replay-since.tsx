import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'

const hourMs = 60 * 60_000

export function ReplaySince({ webhookName, onClose }: { webhookName: string; onClose: () => void }) {
  const [since, setSince] = useState(() => asLocal(Date.now() - hourMs))
  const at = Date.parse(since)
  const replay = async () => {
    await jobcast.webhooks.replaySince(webhookName, { since: new Date(at).toISOString() })
    await refreshKeys(['webhook', webhookName])
  }
  return (
    <FormDialog
      title="Resend all"
      submit="Resend"
      canSubmit={!Number.isNaN(at)}
      work={replay}
      onClose={onClose}
    >
      <TextField
        label="Since"
        type="datetime-local"
        required
        value={since}
        onInput={setSince}
        hint="Sends all retained events since then that match, including those already delivered."
      />
    </FormDialog>
  )
}

/** The value of the field: local time, without a zone. */
function asLocal(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
