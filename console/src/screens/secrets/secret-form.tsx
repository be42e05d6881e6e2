// The form for a new secret, or a new value. The value is never shown again.

import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'

export function SecretForm({ secretName, onClose }: { secretName?: string; onClose: () => void }) {
  const [given, setName] = useState(secretName ?? '')
  const [value, setValue] = useState('')
  const name = given.trim()
  const save = async () => {
    await jobcast.secrets.put(name, { value }, { ifNew: secretName === undefined })
    await refreshKeys(['secrets'])
  }
  return (
    <FormDialog
      title={secretName === undefined ? 'New secret' : `Replace the value of ${secretName}`}
      submit={secretName === undefined ? 'Create secret' : 'Replace'}
      canSubmit={name !== '' && value !== ''}
      work={save}
      onClose={onClose}
    >
      {secretName === undefined && (
        <TextField
          label="Name"
          required
          value={given}
          onInput={setName}
          placeholder="UPLOAD_TOKEN"
          hint="Documents use it as ${secrets.NAME}; handlers get it as JOBCAST_SECRET_NAME."
        />
      )}
      <TextField
        label="Value"
        type="password"
        required
        value={value}
        onInput={setValue}
        hint="Encrypted and never shown again. It reaches executions that are still pending."
      />
    </FormDialog>
  )
}
