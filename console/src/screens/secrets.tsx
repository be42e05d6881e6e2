// All secrets, which are write-only values for devices.

import type { Secret } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { lists } from '../api/queries.ts'
import { removeRow, useList } from '../api/use-list.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { SecretForm } from './secrets/secret-form.tsx'

const columns: Column<Secret>[] = [
  {
    name: 'secret',
    title: 'Secret',
    width: 'minmax(0, 2fr)',
    sortBy: ({ secretName }) => secretName,
    cell: ({ secretName }) => <code>{secretName}</code>,
  },
  {
    name: 'used-by',
    title: 'Used by',
    width: 'minmax(0, 4fr)',
    cell: ({ usedBy }) => usedBy.join(', ') || '–',
  },
  {
    name: 'by',
    title: 'Put by',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ updatedBy, updatedByName }) => <Maker createdBy={updatedBy} createdByName={updatedByName} />,
  },
  {
    name: 'updated',
    title: 'Updated',
    width: '110px',
    isMinor: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
]

type Open = { secretName?: string }

export default function SecretsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [open, setOpen] = useState<Open>()
  const changing: Column<Secret> = {
    name: 'change',
    title: <span class="hidden">Change</span>,
    width: '170px',
    cell: ({ secretName }) => (
      <>
        <button type="button" onClick={() => setOpen({ secretName })}>
          Replace
        </button>{' '}
        <DeleteSecret secretName={secretName} />
      </>
    ),
  }
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setOpen({})}>
            New secret
          </button>
        )
      }
      list={useList(lists.secrets())}
      columns={can('MANAGE') ? [...columns, changing] : columns}
      empty={<NoSecrets />}
    >
      {open && <SecretForm {...open} onClose={() => setOpen(undefined)} />}
    </ListScreen>
  )
}

/** Refused while the secret is in use; the error names the users. */
function DeleteSecret({ secretName }: { secretName: string }) {
  return (
    <ConfirmButton
      label="Delete"
      question={
        <p>
          Delete the secret <strong>{secretName}</strong>? Its value cannot be restored.
        </p>
      }
      work={async () => {
        await jobcast.secrets.delete(secretName)
        removeRow(['secrets'], secretName)
      }}
    />
  )
}

function NoSecrets() {
  const { can } = useScopes()
  return (
    <EmptyState icon="keys" title="No secrets yet">
      <p>
        A secret is a value for devices that nobody can read back. Documents use it as{' '}
        <code>{'${secrets.NAME}'}</code>.{' '}
        {can('MANAGE') ? 'Create one with “New secret”.' : 'A key with the MANAGE scope can create one.'}
      </p>
    </EmptyState>
  )
}
