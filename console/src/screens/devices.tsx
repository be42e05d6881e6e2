// All devices, by what the API filters; the filters stand in the address. Some can be picked, for a trigger.

import type { Device } from '@jobcast/client'
import { useMemo, useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { SelectField, TextField } from '../parts/field.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Presence } from '../parts/presence.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { FindDevice } from './devices/find-device.tsx'
import { NewDevice } from './devices/new-device.tsx'
import './devices.css'

const hrefOf = ({ deviceId }: Device) => `/devices/${encodeURIComponent(deviceId)}`

const columns: Column<Device>[] = [
  {
    name: 'device',
    title: 'Device',
    width: 'minmax(0, 2fr)',
    cell: (device) => <a href={hrefOf(device)}>{device.deviceId}</a>,
  },
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ deviceId, deviceName }) =>
      deviceName === deviceId ? <span class="quiet">as its id</span> : deviceName,
  },
  { name: 'presence', title: 'Presence', width: '90px', cell: ({ online }) => <Presence online={online} /> },
  {
    name: 'seen',
    title: 'Last seen',
    width: '120px',
    isMinor: true,
    cell: ({ lastSeenAt }) =>
      lastSeenAt ? <RelativeTime at={lastSeenAt} /> : <span class="quiet">never</span>,
  },
  {
    name: 'tags',
    title: 'Tags',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ tags }) => (
      <span class="tags">
        {tags.map((tag) => (
          <a class="tag" key={tag} href={`/devices?tag=${encodeURIComponent(tag)}`}>
            {tag}
          </a>
        ))}
      </span>
    ),
  },
]

const presences = [
  { value: '', label: 'Online and offline' },
  { value: 'true', label: 'Online' },
  { value: 'false', label: 'Offline' },
]

export default function DevicesScreen() {
  const tag = search.value.get('tag') ?? ''
  const online = search.value.get('online') ?? ''
  const { can } = useScopes()
  const [isMaking, setMaking] = useState(false)
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const { list, rows, nextCursor, isLoading, error } = useList(
    lists.devices({ tag: tag || undefined, online: online === '' ? undefined : online === 'true' }),
  )
  const isFiltered = tag !== '' || online !== ''
  const isEmpty = rows.length === 0 && nextCursor === null
  const shown = useMemo(
    () => (can('TRIGGER') ? [pickColumn(picked, setPicked), ...columns] : columns),
    [picked, can('TRIGGER')],
  )
  return (
    <>
      <PageHeader title="Devices">
        {can('TRIGGER') && <TriggerLink picked={picked} tag={tag} isEmpty={isEmpty} />}
        {picked.size > 0 && (
          <button type="button" onClick={() => setPicked(new Set())}>
            Pick none
          </button>
        )}
        {can('MANAGE') && (
          <button type="button" class={isEmpty ? 'primary' : ''} onClick={() => setMaking(true)}>
            New device
          </button>
        )}
      </PageHeader>
      <div class="filters">
        <FindDevice />
        <TextField
          label="Tag"
          value={tag}
          placeholder="Any tag"
          onInput={(value) => setSearch({ tag: value })}
        />
        <SelectField
          label="Presence"
          value={online}
          options={presences}
          onChange={(value) => setSearch({ online: value })}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {isEmpty && (isFiltered ? <NoneLikeThis /> : <NoDevices />)}
      {rows.length > 0 && (
        <DataTable
          label="Devices"
          columns={shown}
          rows={rows}
          idOf={({ deviceId }) => deviceId}
          hrefOf={hrefOf}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
      {isMaking && <NewDevice onClose={() => setMaking(false)} />}
    </>
  )
}

function pickColumn(picked: ReadonlySet<string>, setPicked: (next: Set<string>) => void): Column<Device> {
  return {
    name: 'pick',
    title: <span class="hidden">Pick</span>,
    width: '16px',
    cell: ({ deviceId }) => (
      <span class="pick">
        <input
          type="checkbox"
          aria-label={`Pick ${deviceId}`}
          checked={picked.has(deviceId)}
          onChange={(event) => {
            const next = new Set(picked)
            if (event.currentTarget.checked) next.add(deviceId)
            else next.delete(deviceId)
            setPicked(next)
          }}
        />
      </span>
    ),
  }
}

/** On what is picked; else on the tag, if that is what the list is filtered by. */
function TriggerLink({
  picked,
  tag,
  isEmpty,
}: {
  picked: ReadonlySet<string>
  tag: string
  isEmpty: boolean
}) {
  if (picked.size > 0) {
    return (
      <a class="button primary" href={triggerHref({ deviceIds: picked })}>
        Trigger on {formatCount(picked.size)} {picked.size === 1 ? 'device' : 'devices'}
      </a>
    )
  }
  if (tag === '' || isEmpty) return null
  return (
    <a class="button primary" href={triggerHref({ tag })}>
      Trigger on tag {tag}
    </a>
  )
}

function NoneLikeThis() {
  return (
    <EmptyState icon="devices" title="No device is like this">
      <p>
        <a href="/devices">Show all</a>
      </p>
    </EmptyState>
  )
}

function NoDevices() {
  const { can } = useScopes()
  return (
    <EmptyState icon="devices" title="No devices yet">
      {can('MANAGE') ? (
        <p>
          Make one with “New device”, or let devices <a href="/enrollments">enrol themselves</a>. To look
          around first, <code>npx jobcast sim</code> simulates a fleet.
        </p>
      ) : (
        <p>A key with MANAGE can add some.</p>
      )}
    </EmptyState>
  )
}
