// API keys; with ADMIN also the owners, and the keys of each.

import type { ApiKey, CreatedApiKey } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { lists, queries } from '../api/queries.ts'
import { readAnew } from '../api/read-anew.ts'
import { self } from '../api/self.ts'
import { useList } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { SelectField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { now, parseTime } from '../parts/time.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { NewKey } from './keys/new-key.tsx'
import { NewOwner } from './keys/new-owner.tsx'

type Standing = 'good' | 'expired' | 'revoked'

function standingOf({ revokedAt, expiresAt }: ApiKey, at: number): Standing {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && parseTime(expiresAt) <= at ? 'expired' : 'good'
}

const columns: Column<ApiKey>[] = [
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(0, 3fr)',
    cell: ({ keyName, keyId }) => (
      <>
        {keyName}
        {keyId === self.value?.keyId && <span class="quiet"> · this session</span>}
      </>
    ),
  },
  {
    name: 'scopes',
    title: 'Scopes',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ scopes }) => (
      <span class="tags">
        {scopes.length === 0 && <span class="quiet">none</span>}
        {scopes.map((scope) => (
          <span class="tag" key={scope}>
            {scope}
          </span>
        ))}
      </span>
    ),
  },
  { name: 'state', title: 'State', width: '90px', cell: (key) => <State apiKey={key} /> },
  {
    name: 'used',
    title: 'Last used',
    width: '110px',
    isMinor: true,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <RelativeTime at={lastUsedAt} /> : <span class="quiet">never</span>,
  },
  {
    name: 'expires',
    title: 'Expires',
    width: '110px',
    isMinor: true,
    cell: ({ expiresAt }) =>
      expiresAt ? <RelativeTime at={expiresAt} isAhead /> : <span class="quiet">never</span>,
  },
  {
    name: 'id',
    title: 'Id',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ keyId }) => <code class="quiet">{keyId}</code>,
  },
]

const revokeColumn: Column<ApiKey> = {
  name: 'revoke',
  title: <span class="hidden">Revoke</span>,
  width: '76px',
  cell: (key) => standingOf(key, now.value) !== 'revoked' && <Revoke apiKey={key} />,
}

const standings = [
  { value: '', label: 'Good ones' },
  { value: 'all', label: 'All, revoked too' },
]

export default function KeysScreen() {
  const { can } = useScopes()
  const ownerId = search.value.get('owner') ?? ''
  const isAll = search.value.get('show') === 'all'
  const [making, setMaking] = useState<'key' | 'owner'>()
  const [created, setCreated] = useState<CreatedApiKey>()
  const { list, rows, nextCursor, isLoading, error } = useList(lists.keys({ ownerId: ownerId || undefined }))
  const canChange = can('MANAGE') || can('ADMIN')
  const shown = isAll ? rows : rows.filter((key) => standingOf(key, now.value) === 'good')
  const isEmpty = shown.length === 0 && nextCursor === null
  return (
    <>
      <PageHeader title="Keys">
        {can('ADMIN') && (
          <button type="button" onClick={() => setMaking('owner')}>
            New owner
          </button>
        )}
        {canChange && (
          <button type="button" class="primary" onClick={() => setMaking('key')}>
            New key
          </button>
        )}
      </PageHeader>
      {created && (
        <SecretNote
          title={`The key ${created.keyName}`}
          secret={created.apiKey}
          commands={[{ title: 'In a terminal', line: `export JOBCAST_API_KEY=${created.apiKey}` }]}
          onDone={() => setCreated(undefined)}
        >
          It is shown this once. Whoever has it may do what its scopes say.
        </SecretNote>
      )}
      <div class="filters">
        {can('ADMIN') && <OwnerField ownerId={ownerId} />}
        <SelectField
          label="Show"
          value={isAll ? 'all' : ''}
          options={standings}
          onChange={(value) => setSearch({ show: value })}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {isEmpty && (
        <EmptyState icon="keys" title={isAll ? 'No keys yet' : 'No good keys'}>
          {canChange && <p>Callers sign in with a key. Make one with “New key”.</p>}
        </EmptyState>
      )}
      {shown.length > 0 && (
        <DataTable
          label="Keys"
          columns={canChange ? [...columns, revokeColumn] : columns}
          rows={shown}
          idOf={({ keyId }) => keyId}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
      {making === 'key' && (
        <NewKey ownerId={ownerId || undefined} onClose={() => setMaking(undefined)} onCreated={setCreated} />
      )}
      {making === 'owner' && <NewOwner onClose={() => setMaking(undefined)} />}
    </>
  )
}

function OwnerField({ ownerId }: { ownerId: string }) {
  const { data } = useQuery(queries.owners())
  const own = self.value?.ownerId
  const owners = data?.items ?? []
  return (
    <SelectField
      label="Owner"
      value={ownerId}
      options={[
        { value: '', label: `${owners.find((owner) => owner.ownerId === own)?.ownerName ?? 'Own'} (yours)` },
        ...owners
          .filter((owner) => owner.ownerId !== own)
          .map((owner) => ({ value: owner.ownerId, label: owner.ownerName })),
      ]}
      onChange={(value) => setSearch({ owner: value })}
    />
  )
}

function State({ apiKey }: { apiKey: ApiKey }) {
  const standing = standingOf(apiKey, now.value)
  return (
    <span class={`badge tone-${standing === 'good' ? 'good' : 'off'}`}>
      <Icon name={standing === 'good' ? 'good' : 'off'} />
      {standing}
    </span>
  )
}

function Revoke({ apiKey: { keyId, keyName, scopes } }: { apiKey: ApiKey }) {
  const { can } = useScopes()
  // One with ADMIN is revoked by its like only.
  if (scopes.includes('ADMIN') && !can('ADMIN')) return null
  const isOwn = keyId === self.value?.keyId
  return (
    <span class="row-buttons">
      <ConfirmButton
        label="Revoke"
        question={
          <p>
            <strong>{keyName}</strong> is refused from the next request on. This cannot be undone.
            {isOwn && ' It is the key of this session: you will be signed out.'}
          </p>
        }
        work={async () => {
          await jobcast.keys.revoke(keyId)
          await readAnew(['keys'])
        }}
      />
    </span>
  )
}
