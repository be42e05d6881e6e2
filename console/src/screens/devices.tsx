// All devices, by what the API filters; the filters stand in the address.

import type { Device } from '@jobcast/client'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Presence } from '../parts/presence.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { search, setSearch } from '../router.ts'

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
    cell: ({ deviceName }) => deviceName,
  },
  { name: 'presence', title: 'Presence', width: '90px', cell: ({ online }) => <Presence online={online} /> },
  {
    name: 'seen',
    title: 'Last seen',
    width: '120px',
    isMinor: true,
    cell: ({ lastSeenAt }) => (lastSeenAt ? <RelativeTime at={lastSeenAt} /> : 'never'),
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
  const { list, rows, nextCursor, isLoading, error } = useList(
    lists.devices({ tag: tag || undefined, online: online === '' ? undefined : online === 'true' }),
  )
  const isFiltered = tag !== '' || online !== ''
  return (
    <>
      <PageHeader title="Devices" />
      <div class="filters">
        <TextField label="Tag" type="search" value={tag} onInput={(value) => setSearch({ tag: value })} />
        <SelectField
          label="Presence"
          value={online}
          options={presences}
          onChange={(value) => setSearch({ online: value })}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {rows.length === 0 && nextCursor === null && (
        <EmptyState icon="devices" title={isFiltered ? 'No device is like this' : 'No devices yet'}>
          {isFiltered ? <a href="/devices">Show all</a> : <code>npx jobcast devices put my-device</code>}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Devices"
          columns={columns}
          rows={rows}
          idOf={({ deviceId }) => deviceId}
          hrefOf={hrefOf}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
    </>
  )
}
