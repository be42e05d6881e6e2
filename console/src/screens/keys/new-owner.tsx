import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { setSearch } from '../../router.ts'

/** Opens the keys of the new owner, who has none yet. */
export function NewOwner({ onClose }: { onClose: () => void }) {
  const [ownerName, setOwnerName] = useState('')
  const create = async () => {
    const owner = await jobcast.owners.create({ ownerName: ownerName.trim() })
    await refreshKeys(['owners'])
    setSearch({ owner: owner.ownerId })
  }
  return (
    <FormDialog
      title="New owner"
      submit="Make owner"
      canSubmit={ownerName.trim() !== ''}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        value={ownerName}
        onInput={setOwnerName}
        hint="A tenant with its own jobs, devices and keys, invisible to other owners. Owners cannot be deleted."
      />
    </FormDialog>
  )
}
