// API keys; with ADMIN also the owners, and the keys of each.

import type { ApiKey, CreatedApiKey, RevokedKeys } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { lists, queries } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { self } from '../api/self.ts'
import { useList } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { keyLine } from '../parts/command-line.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { SelectField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { now, parseTime } from '../parts/time.ts'
import type { ScreenProps } from '../route.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { NewKey } from './keys/new-key.tsx'
import { NewOwner } from './keys/new-owner.tsx'

type Status = 'active' | 'expired' | 'revoked'

function statusOf({ revokedAt, expiresAt }: ApiKey, at: number): Status {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && parseTime(expiresAt) <= at ? 'expired' : 'active'
}

function makerOf({ createdBy, createdByName, createdBySession }: ApiKey) {
  return { createdBy, createdByName, createdBySession }
}

const columns: Column<ApiKey>[] = [
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(0, 2fr)',
    under: ({ scopes }) => scopes.join(', '),
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
    width: 'minmax(0, 6fr)',
    isMinor: true,
    cell: ({ scopes, jobs, where, addresses }) => (
      <span class="tags">
        {scopes.length === 0 && <span class="quiet">none</span>}
        {scopes.map((scope) => (
          <span class="tag" key={scope}>
            {scope}
          </span>
        ))}
        {jobs && <span class="quiet">jobs {jobs.join(', ')}</span>}
        {where && <span class="quiet">devices {where}</span>}
        {addresses && <span class="quiet">from {addresses.join(', ')}</span>}
      </span>
    ),
  },
  { name: 'state', title: 'State', width: '90px', cell: (key) => <State apiKey={key} /> },
  {
    name: 'used',
    title: 'Last used',
    width: '92px',
    isMinor: true,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <RelativeTime at={lastUsedAt} /> : <span class="quiet">never</span>,
  },
  {
    name: 'expires',
    title: 'Expires',
    width: '92px',
    isMinor: true,
    cell: ({ expiresAt }) =>
      expiresAt ? <RelativeTime at={expiresAt} isAhead /> : <span class="quiet">never</span>,
  },
  {
    name: 'maker',
    title: 'Created by',
    width: 'minmax(0, 1.2fr)',
    isMinor: true,
    cell: (key) => <Maker {...makerOf(key)} />,
  },
  {
    name: 'id',
    title: 'ID',
    width: '100px',
    isMinor: true,
    cell: ({ keyId }) => <code class="quiet">{keyId}</code>,
  },
]

type OnPaused = (revoked: RevokedKeys) => void
const revokeColumn = (keys: readonly ApiKey[], onPaused: OnPaused): Column<ApiKey> => ({
  name: 'revoke',
  title: <span class="hidden">Revoke</span>,
  width: '76px',
  cell: (key) =>
    statusOf(key, now.value) !== 'revoked' && <Revoke apiKey={key} keys={keys} onPaused={onPaused} />,
})

const shownKeys = [
  { value: '', label: 'Active' },
  { value: 'all', label: 'All, including revoked' },
]

export default function KeysScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const ownerId = search.value.get('owner') ?? ''
  const isAll = search.value.get('show') === 'all'
  const [creating, setCreating] = useState<'key' | 'owner'>()
  const [created, setCreated] = useState<CreatedApiKey>()
  const [revoked, setRevoked] = useState<RevokedKeys>()
  const keys = useList(lists.keys({ ownerId: ownerId || undefined }))
  const canChange = can('MANAGE') || can('ADMIN')
  return (
    <ListScreen
      route={route}
      actions={
        <>
          {canChange && (
            <a class="button" href="/keys/sessions">
              Sessions
            </a>
          )}
          {can('ADMIN') && (
            <button type="button" onClick={() => setCreating('owner')}>
              New owner
            </button>
          )}
          {canChange && (
            <button type="button" class="primary" onClick={() => setCreating('key')}>
              New key
            </button>
          )}
        </>
      }
      notice={
        <>
          {created && <Created created={created} onDone={() => setCreated(undefined)} />}
          {revoked && <PausedNote revoked={revoked} />}
        </>
      }
      filters={
        <div class="filters">
          {can('ADMIN') && <OwnerField ownerId={ownerId} />}
          <SelectField
            label="Show"
            value={isAll ? 'all' : ''}
            options={shownKeys}
            onChange={(value) => setSearch({ show: value })}
          />
        </div>
      }
      list={keys}
      rows={isAll ? keys.rows : keys.rows.filter((key) => statusOf(key, now.value) === 'active')}
      columns={canChange ? [...columns, revokeColumn(keys.rows, setRevoked)] : columns}
      empty={
        <EmptyState icon="keys" title={isAll ? 'No keys yet' : 'No active keys'}>
          {canChange && <p>API calls authenticate with a key. Create one with “New key”.</p>}
        </EmptyState>
      }
    >
      {creating === 'key' && (
        <NewKey
          ownerId={ownerId || undefined}
          onClose={() => setCreating(undefined)}
          onCreated={setCreated}
        />
      )}
      {creating === 'owner' && <NewOwner onClose={() => setCreating(undefined)} />}
    </ListScreen>
  )
}

function Created({ created, onDone }: { created: CreatedApiKey; onDone: () => void }) {
  return (
    <SecretNote
      title={`Key ${created.keyName}`}
      secret={created.apiKey}
      commands={[{ title: 'In a terminal', line: keyLine(created.apiKey) }]}
      onDone={onDone}
    >
      It is shown only once. Anyone who has it can do what its scopes allow.
    </SecretNote>
  )
}

/** Schedules and runs that were paused with the revocation; shown until the user leaves the screen. */
function PausedNote({ revoked: { pausedSchedules, pausedRuns, isMore } }: { revoked: RevokedKeys }) {
  if (pausedSchedules.length + pausedRuns.length === 0) return null
  const schedules = pausedSchedules.map(({ scheduleName }) => scheduleName)
  const runs = pausedRuns.map(({ runId }) => `run ${runId}`)
  return (
    <p class="note" role="status">
      Paused with the revoked keys: <bdi>{[...schedules, ...runs].join(', ')}</bdi>
      {isMore ? ' and more.' : '.'} Resume those that should continue.
    </p>
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
  const status = statusOf(apiKey, now.value)
  return (
    <span class={`badge tone-${status === 'active' ? 'good' : 'off'}`}>
      <Icon name={status === 'active' ? 'good' : 'off'} />
      {status}
    </span>
  )
}

/** The descendants of a key: those that it has created, and those created by these. */
function descendantsOf({ keyId }: ApiKey, keys: readonly ApiKey[]): ApiKey[] {
  const children = keys.filter(({ createdBy }) => createdBy === `key:${keyId}`)
  return children.flatMap((child) => [child, ...descendantsOf(child, keys)])
}

type RevokeProps = { apiKey: ApiKey; keys: readonly ApiKey[]; onPaused: OnPaused }

function Revoke({ apiKey, keys, onPaused }: RevokeProps) {
  const { can } = useScopes()
  const [isWithDescendants, setWithDescendants] = useState(false)
  const { keyId, keyName, scopes } = apiKey
  // Only an ADMIN key can revoke an ADMIN key.
  if (scopes.includes('ADMIN') && !can('ADMIN')) return null
  const isOwn = keyId === self.value?.keyId
  const left = descendantsOf(apiKey, keys).filter(({ revokedAt }) => revokedAt === null)
  return (
    <span class="row-buttons">
      <ConfirmButton
        label="Revoke"
        question={
          <>
            <p>
              <strong>{keyName}</strong> stops working with the next request. This cannot be undone.
              {isOwn && ' This session uses it: you will be signed out.'}
            </p>
            <div class="check-list">
              <label>
                <input
                  type="checkbox"
                  checked={isWithDescendants}
                  onChange={({ currentTarget }) => setWithDescendants(currentTarget.checked)}
                />
                Also revoke the keys and enrollments created with it
              </label>
            </div>
            <p class="quiet">
              {isWithDescendants
                ? 'Their schedules, and their runs that have not started, are paused.'
                : 'Its schedules, and its runs that have not started, continue: they belong to the owner.'}
            </p>
            <p class="quiet">
              {left.length === 0
                ? 'No other valid key in this list was created with it.'
                : `Created with it and still valid: ${left.map((key) => key.keyName).join(', ')}.`}
            </p>
          </>
        }
        work={async () => {
          if (isWithDescendants) onPaused(await jobcast.keys.revoke(keyId, { descendants: true }))
          else await jobcast.keys.revoke(keyId)
          await refreshKeys(['keys'], ['enrollments'], ['schedules'], ['runs'])
        }}
      />
    </span>
  )
}
