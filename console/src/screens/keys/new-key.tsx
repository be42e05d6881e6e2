import type { CreatedApiKey } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Scope, useScopes } from '../../scopes.ts'

const scopes: { value: Scope; label: string; about: string }[] = [
  { value: 'TRIGGER', label: 'TRIGGER', about: 'trigger jobs, retry runs' },
  { value: 'READ', label: 'READ', about: 'see everything' },
  { value: 'MANAGE', label: 'MANAGE', about: 'jobs, devices, webhooks, keys; cancel' },
  { value: 'APPROVE', label: 'APPROVE', about: 'approve or deny runs of others' },
  { value: 'AUDIT', label: 'AUDIT', about: 'list and export the audit log' },
  { value: 'ADMIN', label: 'ADMIN', about: 'owners, and keys of any owner' },
]

const expiries = [
  { value: '', label: 'Never, or when the key you use expires' },
  { value: '1', label: 'In a day' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]
const dayMs = 86_400_000

function listed(text: string, separator: RegExp): string[] {
  return [...new Set(text.split(separator).map((each) => each.trim()))].filter((each) => each !== '')
}

type Props = {
  ownerId: string | undefined
  onClose: () => void
  onCreated: (created: CreatedApiKey) => void
}

export function NewKey({ ownerId, onClose, onCreated }: Props) {
  const { can } = useScopes()
  const [keyName, setKeyName] = useState('')
  const [chosen, setChosen] = useState<Scope[]>([])
  const [days, setDays] = useState('90')
  const [jobs, setJobs] = useState('')
  const [where, setWhere] = useState('')
  const [addresses, setAddresses] = useState('')
  const create = async () => {
    const created = await jobcast.keys.create({
      keyName: keyName.trim(),
      scopes: chosen,
      ...(days !== '' && { expiresAt: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
      ...(ownerId !== undefined && { ownerId }),
      ...(jobs.trim() !== '' && { jobs: listed(jobs, /[,\n]/) }),
      ...(where.trim() !== '' && { where: where.trim() }),
      ...(addresses.trim() !== '' && { addresses: listed(addresses, /[,\s]/) }),
    })
    onCreated(created)
    await refreshKeys(['keys'])
  }
  return (
    <FormDialog
      title="New key"
      submit="Create key"
      canSubmit={keyName.trim() !== '' && chosen.length > 0}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        value={keyName}
        onInput={setKeyName}
        placeholder="ci"
        hint="Who will use it."
      />
      {/* A key can only grant its own scopes; ADMIN can also grant APPROVE and AUDIT. */}
      <CheckList
        label="Scopes"
        options={scopes.filter(
          ({ value }) => can(value) || ((value === 'APPROVE' || value === 'AUDIT') && can('ADMIN')),
        )}
        chosen={chosen}
        onChange={setChosen}
      />
      <SelectField label="Expires" value={days} options={expiries} onChange={setDays} />
      <TextField
        label="Only these jobs"
        value={jobs}
        onInput={setJobs}
        placeholder="restart, update-*"
        hint="The key can see and use only these. Separated by commas; * at the end matches any text. Empty: all jobs."
      />
      <TextField
        label="Only these devices"
        value={where}
        onInput={setWhere}
        placeholder="tag=kiosk and site=berlin"
        hint="A selector of tags, device ids and attributes that you have set. The key can see and use only these devices. Empty: all devices."
      />
      <TextField
        label="Only from these addresses"
        value={addresses}
        onInput={setAddresses}
        placeholder="10.0.0.0/8"
        hint="Addresses or ranges, separated by commas. Empty: from anywhere."
      />
    </FormDialog>
  )
}
