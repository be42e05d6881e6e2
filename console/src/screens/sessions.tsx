// Sessions of the console, which can be ended here.

import type { Session } from '@jobcast/client'
import { jobcast } from '../api/client.ts'
import { lists } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { useList } from '../api/use-list.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'

const columns: Column<Session>[] = [
  {
    name: 'key',
    title: 'Key',
    width: 'minmax(0, 2fr)',
    cell: ({ keyName, current }) => (
      <>
        {keyName}
        {current && <span class="quiet"> · this session</span>}
      </>
    ),
  },
  {
    name: 'signed-in',
    title: 'Signed in',
    width: '110px',
    isMinor: true,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
  {
    name: 'used',
    title: 'Last used',
    width: '110px',
    cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} />,
  },
  {
    name: 'expires',
    title: 'Expires',
    width: '110px',
    isMinor: true,
    cell: ({ expiresAt }) => <RelativeTime at={expiresAt} isAhead />,
  },
  { name: 'address', title: 'Address', width: '130px', isMinor: true, cell: ({ address }) => address ?? '' },
  {
    name: 'browser',
    title: 'Browser',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ userAgent }) => <span class="quiet">{userAgent ?? ''}</span>,
  },
  {
    name: 'end',
    title: <span class="hidden">End</span>,
    width: '76px',
    cell: (session) => <End session={session} />,
  },
]

export default function SessionsScreen({ route }: ScreenProps) {
  return (
    <ListScreen
      route={route}
      actions={
        <a class="button" href="/keys">
          Keys
        </a>
      }
      list={useList(lists.sessions())}
      columns={columns}
      empty={
        <EmptyState icon="keys" title="No sessions">
          <p>Nobody is signed in to the console.</p>
        </EmptyState>
      }
    />
  )
}

function End({ session: { sessionId, keyName, current } }: { session: Session }) {
  return (
    <span class="row-buttons">
      <ConfirmButton
        label="End"
        confirm="End session"
        question={
          <p>
            The browser that is signed in with <strong>{keyName}</strong> has to sign in again. Sessions
            created from it end too.
            {current && ' It is the session you are using.'}
          </p>
        }
        work={async () => {
          await jobcast.sessions.end(sessionId)
          await refreshKeys(['sessions'])
        }}
      />
    </span>
  )
}
