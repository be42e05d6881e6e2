import type { CreatedEnrollment } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { parseDuration } from '../../parts/duration.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'

const yearSeconds = 31_536_000

type Props = { onClose: () => void; onCreated: (created: CreatedEnrollment) => void }

export function NewEnrollment({ onClose, onCreated }: Props) {
  const [name, setName] = useState('')
  const [uses, setUses] = useState('1')
  const [expiry, setExpiry] = useState('1 d')
  const [prefix, setPrefix] = useState('')
  const [isForAny, setForAny] = useState(false)
  const [tags, setTags] = useState<string[]>([])
  const maxUses = Number(uses)
  const seconds = parseDuration(expiry)
  const usesProblem =
    Number.isInteger(maxUses) && maxUses >= 1 && maxUses <= 100_000 ? undefined : 'Must be 1 to 100,000.'
  const expiryProblem =
    seconds !== undefined && seconds >= 60 && seconds <= yearSeconds
      ? undefined
      : 'Use a format such as 30 min, 2 h or 7 d; a minute to a year.'
  const prefixProblem = /[/+#?]/.test(prefix) ? 'Must not contain / + # or ?.' : undefined
  // Requires an explicit choice, because a token for every ID could be used for any device without a token.
  const isChosen = prefix !== '' || isForAny
  const create = async () => {
    const created = await jobcast.enrollments.create({
      ...(name.trim() && { name: name.trim() }),
      ...(prefix !== '' && { deviceIdPrefix: prefix }),
      maxUses,
      expiresInSeconds: seconds as number,
      tags,
    })
    onCreated(created)
    await refreshKeys(['enrollments'])
  }
  return (
    <FormDialog
      title="New enrollment"
      submit="Create enrollment"
      canSubmit={isChosen && (usesProblem ?? expiryProblem ?? prefixProblem) === undefined}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        placeholder="Kiosks, Berlin"
        hint="A display name."
      />
      <div class="side-by-side">
        <TextField
          label="Uses"
          type="number"
          value={uses}
          onInput={setUses}
          hint="How many devices can enroll."
          error={usesProblem}
        />
        <TextField
          label="Expires after"
          value={expiry}
          onInput={setExpiry}
          hint="For example 2 h or 7 d."
          error={expiryProblem}
        />
      </div>
      <TextField
        label="Device ID prefix"
        mono
        value={prefix}
        onInput={setPrefix}
        placeholder="kiosk-"
        error={prefixProblem}
        hint="Other IDs are rejected."
      />
      {prefix === '' && (
        <div class="check-list">
          <label>
            <input
              type="checkbox"
              checked={isForAny}
              onChange={(event) => setForAny(event.currentTarget.checked)}
            />
            <span>Allow any device ID, including those of registered devices without a token</span>
          </label>
        </div>
      )}
      <TagsField
        label="Tags"
        values={tags}
        onChange={setTags}
        hint="Set on each device that enrolls. Press Enter or comma after each."
      />
    </FormDialog>
  )
}
