import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { readAnew } from '../../api/read-anew.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'

const hourMs = 60 * 60_000

export function ReplaySince({ webhookName, onClose }: { webhookName: string; onClose: () => void }) {
  const [since, setSince] = useState(() => asLocal(Date.now() - hourMs))
  const at = Date.parse(since)
  const replay = async () => {
    await jobcast.webhooks.replaySince(webhookName, { since: new Date(at).toISOString() })
    await readAnew(['webhook', webhookName])
  }
  return (
    <FormDialog
      title="Send all again"
      submit="Send again"
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
        hint="All events from then on that are kept and match are sent again, also those that were accepted; then the newer ones."
      />
    </FormDialog>
  )
}

/** As the field has it: the time on the wall, without a zone. */
function asLocal(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
