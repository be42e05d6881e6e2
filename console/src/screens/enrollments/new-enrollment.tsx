import type { CreatedEnrollment } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { readAnew } from '../../api/read-anew.ts'
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
  const [tags, setTags] = useState<string[]>([])
  const maxUses = Number(uses)
  const seconds = parseDuration(expiry)
  const usesProblem =
    Number.isInteger(maxUses) && maxUses >= 1 && maxUses <= 100_000 ? undefined : 'It must be 1 to 100,000.'
  const expiryProblem =
    seconds !== undefined && seconds >= 60 && seconds <= yearSeconds
      ? undefined
      : 'Write it as 30 min, 2 h or 7 d: a minute to a year.'
  const prefixProblem = /[/+#?]/.test(prefix) ? 'None of / + # ? may be in it.' : undefined
  const create = async () => {
    const created = await jobcast.enrollments.create({
      ...(name.trim() && { name: name.trim() }),
      ...(prefix !== '' && { deviceIdPrefix: prefix }),
      maxUses,
      expiresInSeconds: seconds as number,
      tags,
    })
    onCreated(created)
    await readAnew(['enrollments'])
  }
  return (
    <FormDialog
      title="New enrolment"
      submit="Make enrolment"
      canSubmit={(usesProblem ?? expiryProblem ?? prefixProblem) === undefined}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        placeholder="Kiosks, Berlin"
        hint="For people."
      />
      <div class="side-by-side">
        <TextField
          label="Uses"
          type="number"
          value={uses}
          onInput={setUses}
          hint="How many devices may enrol."
          error={usesProblem}
        />
        <TextField
          label="Expires after"
          value={expiry}
          onInput={setExpiry}
          hint="As 2 h or 7 d."
          error={expiryProblem}
        />
      </div>
      <TextField
        label="Device ids begin with"
        mono
        value={prefix}
        onInput={setPrefix}
        placeholder="Anything"
        error={prefixProblem}
        hint="Others are refused."
      />
      <TagsField
        label="Tags"
        values={tags}
        onChange={setTags}
        hint="Of each device that it makes. Enter or a comma ends one."
      />
    </FormDialog>
  )
}
