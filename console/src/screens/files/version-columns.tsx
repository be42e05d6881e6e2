// Columns of file versions, for the list of all files and the versions of one file.

import type { FileVersion } from '@jobcast/client'
import type { Column } from '../../parts/data-table.tsx'
import { Maker } from '../../parts/maker.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'

export const usedByColumn: Column<FileVersion> = {
  name: 'used-by',
  title: 'Used by',
  width: 'minmax(0, 3fr)',
  isMinor: true,
  cell: ({ usedBy }) => <UsedBy usedBy={usedBy} />,
}

export const putByColumn: Column<FileVersion> = {
  name: 'by',
  title: 'Put by',
  width: 'minmax(0, 2fr)',
  isMinor: true,
  cell: ({ createdBy, createdByName }) => <Maker {...{ createdBy, createdByName }} />,
}

export const putColumn: Column<FileVersion> = {
  name: 'created',
  title: 'Put',
  width: '110px',
  isMinor: true,
  cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
}

const places: Record<string, string> = { job: 'jobs', schedule: 'schedules', run: 'runs' }

/** Links to users such as `job:install`, `schedule:nightly` and `run:7`. */
function UsedBy({ usedBy }: { usedBy: string[] }) {
  if (usedBy.length === 0) return <>–</>
  return (
    <>
      {usedBy.map((user, index) => (
        <span key={user}>
          {index > 0 && ', '}
          <User user={user} />
        </span>
      ))}
    </>
  )
}

function User({ user }: { user: string }) {
  const [kind = '', name = ''] = user.split(/:(.*)/)
  const place = places[kind]
  if (place === undefined) return <>{user}</>
  return <a href={`/${place}/${encodeURIComponent(name)}`}>{kind === 'run' ? `run ${name}` : name}</a>
}
