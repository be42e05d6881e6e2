// Bridges to brokers of the user, with their state.

import type { Bridge } from '@jobcast/client'
import { useCallback } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { useEvery } from '../api/use-every.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Elapsed, RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'

type StateStyle = { tone: 'good' | 'bad' | 'off'; icon: IconName }

const styles: Record<Bridge['state'], StateStyle> = {
  connected: { tone: 'good', icon: 'good' },
  connecting: { tone: 'off', icon: 'waiting' },
  down: { tone: 'bad', icon: 'warning' },
  unknown: { tone: 'off', icon: 'off' },
}

const columns: Column<Bridge>[] = [
  {
    name: 'name',
    title: 'Bridge',
    width: 'minmax(0, 1fr)',
    sortBy: ({ bridgeName }) => bridgeName,
    cell: ({ bridgeName }) => bridgeName,
  },
  {
    name: 'state',
    title: 'State',
    width: '130px',
    sortBy: ({ state }) => state,
    cell: ({ state }) => (
      <span class={`badge tone-${styles[state].tone}`}>
        <Icon name={styles[state].icon} />
        {state}
      </span>
    ),
  },
  {
    name: 'since',
    title: 'Since',
    width: '110px',
    isMinor: true,
    sortBy: ({ since }) => since,
    cell: ({ since }) => since && <RelativeTime at={since} />,
  },
  {
    name: 'devices',
    title: 'Devices',
    width: '90px',
    align: 'end',
    isMinor: true,
    sortBy: ({ devicesOnline }) => devicesOnline,
    cell: ({ devicesOnline }) => formatCount(devicesOnline),
  },
  {
    name: 'lag',
    title: 'Lag',
    width: '90px',
    align: 'end',
    isMinor: true,
    sortBy: ({ lagMs }) => lagMs,
    cell: ({ lagMs }) => `${formatCount(lagMs)} ms`,
  },
  { name: 'events', title: 'Events', width: '150px', isMinor: true, cell: Events },
  { name: 'error', title: 'Last error', width: 'minmax(0, 3fr)', cell: LastError },
]

/** There are no events for the state of bridges. */
const pollMs = 5000

const source = {
  key: ['bridges'],
  load: (cursor: string | undefined, signal: AbortSignal) =>
    jobcast.fleet.bridges({ limit: 200, cursor }, { signal }).page(),
  idOf: ({ bridgeName }: Bridge) => bridgeName,
}

export default function BridgesScreen({ route }: ScreenProps) {
  const bridges = useList(source)
  const { list } = bridges
  useEvery(
    pollMs,
    useCallback(() => void list.refresh(), [list]),
  )
  return <ListScreen route={route} list={bridges} columns={columns} empty={<NoBridges />} />
}

function Events({ events }: Bridge) {
  if (events === null) return <span class="quiet">not published</span>
  if (events.failingSince === null) return <>up to {events.cursor ?? 'none'}</>
  return (
    <span class="badge tone-bad">
      <Icon name="warning" />
      refused for <Elapsed since={events.failingSince} />
    </span>
  )
}

function LastError({ lastError, lastErrorAt, state, events }: Bridge) {
  if (lastError === null) return null
  const isOver = state === 'connected' && !events?.failingSince
  return (
    <span class={isOver ? 'quiet' : ''} title={lastError}>
      {lastErrorAt && <RelativeTime at={lastErrorAt} />}: <bdi>{lastError}</bdi>
    </span>
  )
}

function NoBridges() {
  return (
    <EmptyState icon="bridges" title="No bridges">
      <p>
        With a bridge, devices that are connected to your own MQTT broker take jobs there. It is set where the
        service runs: <code>jobcast serve --bridge mqtts://…</code>
      </p>
    </EmptyState>
  )
}
