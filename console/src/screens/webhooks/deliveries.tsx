// The deliveries of a webhook, with their attempts and responses. Each can be sent again.

import type { Delivery } from '@jobcast/client'
import { useCallback, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { lists } from '../../api/queries.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { useEvery } from '../../api/use-every.ts'
import { useList } from '../../api/use-list.ts'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { formatDuration } from '../../parts/time.ts'
import { path, search } from '../../router.ts'
import { useScopes } from '../../scopes.ts'
import { Attempts } from './attempts.tsx'
import { ReplaySince } from './replay-since.tsx'

type State = Delivery['state']

const stateStyles: Record<State, { tone: 'waiting' | 'good' | 'bad'; icon: IconName; word: string }> = {
  PENDING: { tone: 'waiting', icon: 'waiting', word: 'waiting' },
  DELIVERED: { tone: 'good', icon: 'good', word: 'delivered' },
  FAILED: { tone: 'bad', icon: 'bad', word: 'failed' },
}

const states: (State | undefined)[] = [undefined, 'PENDING', 'DELIVERED', 'FAILED']

const pollMs = 2000

export function Deliveries({ webhookName }: { webhookName: string }) {
  const { can } = useScopes()
  const state = states.find((known) => known === search.value.get('state'))
  const deliveries = useList(lists.deliveries(webhookName, { state }))
  const { list, rows } = deliveries
  const [opened, setOpened] = useState<number>()
  const [isReplaying, setReplaying] = useState(false)
  useEvery(
    pollMs,
    useCallback(() => void list.refresh(), [list]),
  )
  const replay = useAction(async (eventId: number) => {
    await jobcast.webhooks.replayOne(webhookName, eventId)
    await refreshKeys(['webhook', webhookName])
  })
  const openedRow = rows.find(({ eventId }) => eventId === opened)
  const replayColumn: Column<Delivery> = {
    name: 'replay',
    title: <span class="hidden">Resend</span>,
    width: '90px',
    isMinor: true,
    cell: ({ eventId, state }) =>
      state !== 'PENDING' && (
        <span class="row-buttons">
          <button
            type="button"
            aria-label={`Resend event ${eventId}`}
            disabled={replay.isRunning}
            onClick={() => replay.run(eventId)}
          >
            Resend
          </button>
        </span>
      ),
  }
  const columns = columnsOf(setOpened)
  return (
    <section class="deliveries" aria-labelledby="deliveries">
      <header>
        <h2 id="deliveries">Deliveries</h2>
        {can('MANAGE') && (
          <button type="button" onClick={() => setReplaying(true)}>
            Resend all since…
          </button>
        )}
      </header>
      <Tabs
        label="Deliveries by state"
        current={state ?? 'all'}
        tabs={states.map((each) => ({
          name: each ?? 'all',
          label: each === undefined ? 'All' : capital(stateStyles[each].word),
          href: each === undefined ? path.value : `${path.value}?state=${each}`,
        }))}
      />
      <ErrorNote error={replay.error} />
      <PagedTable
        label="Deliveries"
        list={deliveries}
        columns={can('MANAGE') ? [...columns, replayColumn] : columns}
        empty={
          <EmptyState
            icon="webhooks"
            title={state === undefined ? 'No deliveries yet' : 'No deliveries match'}
          >
            {state === undefined && <p>It receives events that occur after it was created.</p>}
          </EmptyState>
        }
      />
      {openedRow && (
        <Attempts
          delivery={openedRow}
          onReplay={can('MANAGE') ? () => replay.run(openedRow.eventId) : undefined}
          onClose={() => setOpened(undefined)}
        />
      )}
      {isReplaying && <ReplaySince webhookName={webhookName} onClose={() => setReplaying(false)} />}
    </section>
  )
}

function columnsOf(open: (eventId: number) => void): Column<Delivery>[] {
  return [
    {
      name: 'event',
      title: 'Event',
      width: 'minmax(0, 3fr)',
      cell: ({ eventId, type }) => (
        <button type="button" class="ghost event-button" onClick={() => open(eventId)}>
          <span>
            {type} <span class="quiet">#{eventId}</span>
          </span>
        </button>
      ),
    },
    {
      name: 'state',
      title: 'State',
      width: '100px',
      cell: ({ state }) => (
        <span class={`badge tone-${stateStyles[state].tone}`}>
          <Icon name={stateStyles[state].icon} />
          {stateStyles[state].word}
        </span>
      ),
    },
    {
      name: 'answer',
      title: 'Last response',
      width: 'minmax(0, 3fr)',
      isMinor: true,
      cell: ({ attempts }) => {
        const last = attempts.at(-1)
        if (!last) return <span class="quiet">not sent yet</span>
        return (
          <>
            {last.error ?? last.status} <span class="quiet">in {formatDuration(last.ms)}</span>
          </>
        )
      },
    },
    {
      name: 'at',
      title: 'Last attempt',
      width: '120px',
      isMinor: true,
      cell: ({ attempts }) => {
        const last = attempts.at(-1)
        return last && <RelativeTime at={last.at} />
      },
    },
    {
      name: 'attempts',
      title: 'Attempts',
      width: '80px',
      isMinor: true,
      align: 'end',
      cell: ({ attempts }) => attempts.length,
    },
  ]
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
