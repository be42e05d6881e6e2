// All devices, with the filters of the API in the address. Devices can be selected, for a trigger.

import type { Device } from '@jobcast/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState, NoMatches } from '../parts/empty-state.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { naturally } from '../parts/natural-order.ts'
import { isEmptyList } from '../parts/paged-table.tsx'
import { Presence } from '../parts/presence.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { selectColumn } from '../parts/select-column.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { type FilterRules, filterOf, isOneOf, WrongFilters } from '../parts/wrong-filters.tsx'
import type { ScreenProps } from '../route.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { SelectorField } from '../selector/selector-field.tsx'
import { readFilter, whereAll, whereTag } from '../selector/selector-text.ts'
import { AttributeColumnsField, attributeColumn, attributeColumns } from './devices/attribute-columns.tsx'
import { FindDevice } from './devices/find-device.tsx'
import { NewDevice } from './devices/new-device.tsx'
import type { SelectedProps } from './devices/selected-devices.tsx'
import './devices.css'

const ImportDevices = lazyPart<{ onClose: () => void }>(() => import('./devices/import-devices.tsx'))
const SelectedDevices = lazyPart<SelectedProps>(() => import('./devices/selected-devices.tsx'))

const idOf = ({ deviceId }: Device) => deviceId
const hrefOf = ({ deviceId }: Device) => `/devices/${encodeURIComponent(deviceId)}`

const columns: Column<Device>[] = [
  {
    name: 'device',
    title: 'Device',
    width: 'minmax(0, 2fr)',
    sortBy: ({ deviceId }) => deviceId,
    cell: (device) => <a href={hrefOf(device)}>{device.deviceId}</a>,
    under: ({ deviceId, deviceName, tags }) =>
      [deviceName !== deviceId && deviceName, ...tags].filter(Boolean).join(', '),
  },
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    sortBy: ({ deviceName }) => deviceName,
    cell: ({ deviceId, deviceName }) =>
      deviceName === deviceId ? <span class="quiet">same as ID</span> : deviceName,
  },
  {
    name: 'presence',
    title: 'Presence',
    width: '100px',
    sortBy: ({ online }) => (online ? 0 : 1),
    cell: ({ online }) => <Presence online={online} />,
    under: ({ online, lastSeenAt }) => !online && lastSeenAt && <RelativeTime at={lastSeenAt} />,
  },
  {
    name: 'seen',
    title: 'Last seen',
    width: '120px',
    isMinor: true,
    sortBy: ({ lastSeenAt }) => lastSeenAt,
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

const rules: FilterRules = { tag: isPossibleName, online: isOneOf(['true', 'false']) }

const presences = [
  { value: '', label: 'Online and offline' },
  { value: 'true', label: 'Online' },
  { value: 'false', label: 'Offline' },
]

export default function DevicesScreen({ route }: ScreenProps) {
  const tag = filterOf('tag', rules) ?? ''
  const online = filterOf('online', rules) ?? ''
  const { can } = useScopes()
  const [isCreating, setCreating] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isAllChecked, setAll] = useState(false)
  const where = search.value.get('where') ?? ''
  const filter = readFilter(where)
  // The matching devices are unknown in this case.
  const isWrong = filter.kind === 'wrong'
  const isAll = isAllChecked && !isWrong
  const devices = useList(
    lists.devices({
      tag: tag || undefined,
      online: online === '' ? undefined : online === 'true',
      where: filter.kind === 'where' ? filter.where : undefined,
    }),
  )
  const isEmpty = isEmptyList(devices)
  // The server sorts by characters; when all devices are loaded, they can be shown in natural order.
  const isWhole = devices.nextCursor === null
  const rows = useMemo(
    () => (isWhole ? naturally(devices.rows, idOf) : devices.rows),
    [devices.rows, isWhole],
  )
  const selectAll = (isOn: boolean) => {
    setSelected(new Set())
    setAll(isOn)
  }
  const attributes = attributeColumns()
  const canSelect = can('TRIGGER') || can('MANAGE')
  const shown = useMemo(
    () => [
      ...(canSelect
        ? [
            selectColumn(idOf, {
              selected,
              onChange: setSelected,
              ...(!isWrong && { all: { isOn: isAll, onChange: selectAll } }),
            }),
          ]
        : []),
      ...columns,
      ...attributes.map(attributeColumn),
    ],
    [selected, isAll, isWrong, canSelect, attributes.join()],
  )
  const matching = whereAll([
    filter.kind === 'where' ? filter.where : '',
    tag === '' ? '' : whereTag(tag),
    online === '' ? '' : online === 'true' ? 'online' : 'not online',
  ])
  // Selected devices may no longer be shown.
  useEffect(() => selectAll(false), [matching, isWrong])
  const hasSelection = isAll || selected.size > 0
  return (
    <ListScreen
      route={route}
      actions={
        <>
          {can('TRIGGER') && !hasSelection && (
            <TriggerLink
              where={matching}
              tag={filter.kind === 'none' && online === '' ? tag : ''}
              isEmpty={isEmpty || isWrong}
            />
          )}
          {can('MANAGE') && (
            <button type="button" onClick={() => setImporting(true)}>
              Import CSV
            </button>
          )}
          {can('MANAGE') && (
            <button type="button" class={isEmpty ? 'primary' : ''} onClick={() => setCreating(true)}>
              New device
            </button>
          )}
        </>
      }
      filters={
        <>
          <SavedViews />
          <div class="filters">
            <FindDevice />
            <SelectorField label="Filter" text={where} onInput={(text) => setSearch({ where: text })} />
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
            <AttributeColumnsField rows={devices.rows} />
          </div>
          {hasSelection && (
            <SelectedDevices
              isAll={isAll}
              ids={selected}
              matching={matching}
              onClear={() => selectAll(false)}
            />
          )}
        </>
      }
      notice={<WrongFilters rules={rules} />}
      list={devices}
      rows={rows}
      columns={shown}
      hrefOf={hrefOf}
      empty={
        tag !== '' || online !== '' || where !== '' ? (
          <NoMatches what="devices" href="/devices" />
        ) : (
          <NoDevices />
        )
      }
    >
      {isCreating && <NewDevice onClose={() => setCreating(false)} />}
      {isImporting && <ImportDevices onClose={() => setImporting(false)} />}
    </ListScreen>
  )
}

/** A link to trigger on all devices that match the filters; uses the tag if it is the only filter. */
function TriggerLink({ tag, where, isEmpty }: { tag: string; where: string; isEmpty: boolean }) {
  if (isEmpty || where === '') return null
  if (tag === '') {
    return (
      <a class="button primary" href={triggerHref({ where })}>
        Trigger on all matching devices
      </a>
    )
  }
  return (
    <a class="button primary" href={triggerHref({ tag })}>
      Trigger on tag {tag}
    </a>
  )
}

function NoDevices() {
  const { can } = useScopes()
  return (
    <EmptyState icon="devices" title="No devices yet">
      {can('MANAGE') ? (
        <p>
          Create one with “New device”, or let devices <a href="/enrollments">enroll themselves</a>. To look
          around first, <code>npx --no-install jobcast sim</code> simulates a fleet.
        </p>
      ) : (
        <p>A key with the MANAGE scope can add some.</p>
      )}
    </EmptyState>
  )
}
