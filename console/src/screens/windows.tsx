// All windows, which define when work may be offered to devices.

import type { Window } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { CronText } from '../parts/cron-phrase.tsx'
import type { Column } from '../parts/data-table.tsx'
import { writeDuration } from '../parts/duration.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { WindowForm } from './windows/window-form.tsx'
import { zoneInWords } from './windows/zone-in-words.ts'

const hrefOf = ({ windowName }: Window) => `/windows/${encodeURIComponent(windowName)}`

const columns: Column<Window>[] = [
  {
    name: 'window',
    title: 'Window',
    width: 'minmax(0, 2fr)',
    sortBy: ({ windowName }) => windowName,
    cell: (window) => <a href={hrefOf(window)}>{window.windowName}</a>,
  },
  { name: 'opens', title: 'Opens', width: 'minmax(0, 4fr)', cell: ({ cron }) => <CronText cron={cron} /> },
  {
    name: 'duration',
    title: 'For',
    width: '72px',
    sortBy: ({ durationMinutes }) => durationMinutes,
    cell: ({ durationMinutes }) => writeDuration(durationMinutes * 60),
  },
  {
    name: 'zone',
    title: 'Time zone',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    sortBy: ({ timeZone }) => timeZone,
    cell: ({ timeZone }) => zoneInWords(timeZone),
  },
  {
    name: 'updated',
    title: 'Updated',
    width: '110px',
    isMinor: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
  {
    name: 'by',
    title: 'By',
    width: 'minmax(0, 1fr)',
    isMinor: true,
    cell: ({ updatedBy, updatedByName }) => <Maker createdBy={updatedBy} createdByName={updatedByName} />,
  },
]

export default function WindowsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [isCreating, setCreating] = useState(false)
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New window
          </button>
        )
      }
      list={useList(lists.windows())}
      columns={columns}
      hrefOf={hrefOf}
      empty={<NoWindows />}
    >
      {isCreating && <WindowForm onClose={() => setCreating(false)} />}
    </ListScreen>
  )
}

function NoWindows() {
  const { can } = useScopes()
  return (
    <EmptyState icon="windows" title="No windows yet">
      <p>
        A window defines when devices may be offered work, for example at night in the local time of each
        device.{' '}
        {can('MANAGE') ? 'Create one with “New window”.' : 'A key with the MANAGE scope can create one.'}
      </p>
    </EmptyState>
  )
}
