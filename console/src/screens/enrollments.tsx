// Enrolments: tokens by which devices fetch their own.

import type { CreatedEnrollment, Enrollment } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { lists } from '../api/queries.ts'
import { readAnew } from '../api/read-anew.ts'
import { useList } from '../api/use-list.ts'
import { enrollLine } from '../parts/command-line.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { Icon } from '../parts/icon.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { now, parseTime } from '../parts/time.ts'
import { useScopes } from '../scopes.ts'
import { NewEnrollment } from './enrollments/new-enrollment.tsx'

const columns: Column<Enrollment>[] = [
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(0, 3fr)',
    cell: ({ name, enrollmentId }) => name ?? <span class="quiet mono">{enrollmentId}</span>,
  },
  { name: 'state', title: 'State', width: '100px', cell: (enrollment) => <State enrollment={enrollment} /> },
  {
    name: 'used',
    title: 'Used',
    width: '110px',
    isMinor: true,
    cell: ({ used, maxUses }) => `${formatCount(used)} of ${formatCount(maxUses)}`,
  },
  {
    name: 'expires',
    title: 'Expires',
    width: '110px',
    isMinor: true,
    cell: ({ expiresAt }) => <RelativeTime at={expiresAt} isAhead />,
  },
  {
    name: 'prefix',
    title: 'Ids begin with',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ deviceIdPrefix }) =>
      deviceIdPrefix ? <code>{deviceIdPrefix}</code> : <span class="quiet">anything</span>,
  },
  {
    name: 'tags',
    title: 'Tags',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ tags }) => (
      <span class="tags">
        {tags.map((tag) => (
          <span class="tag" key={tag}>
            {tag}
          </span>
        ))}
      </span>
    ),
  },
]

const revokeColumn: Column<Enrollment> = {
  name: 'revoke',
  title: <span class="hidden">Revoke</span>,
  width: '76px',
  cell: (enrollment) =>
    standingOf(enrollment, now.value) === 'open' && (
      <span class="row-buttons">
        <ConfirmButton
          label="Revoke"
          question={
            <p>
              No further device can enrol with <strong>{enrollment.name ?? enrollment.enrollmentId}</strong>.
              Those that have enrolled keep their tokens.
            </p>
          }
          work={async () => {
            await jobcast.enrollments.revoke(enrollment.enrollmentId)
            await readAnew(['enrollments'])
          }}
        />
      </span>
    ),
}

export default function EnrollmentsScreen() {
  const { can } = useScopes()
  const [isMaking, setMaking] = useState(false)
  const [created, setCreated] = useState<CreatedEnrollment>()
  const { list, rows, nextCursor, isLoading, error } = useList(lists.enrollments())
  const isEmpty = rows.length === 0 && nextCursor === null
  return (
    <>
      <PageHeader title="Enrolments">
        {can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New enrolment
          </button>
        )}
      </PageHeader>
      {created && <Created created={created} onDone={() => setCreated(undefined)} />}
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {isEmpty && (
        <EmptyState icon="enrollments" title="No enrolments yet">
          <p>
            An enrolment is one token for many devices: each fetches its own with it, so that none has to be
            carried there.{' '}
            {can('MANAGE') ? 'Make one with “New enrolment”.' : 'A key with MANAGE can make one.'}
          </p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Enrolments"
          columns={can('MANAGE') ? [...columns, revokeColumn] : columns}
          rows={rows}
          idOf={({ enrollmentId }) => enrollmentId}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
      {isMaking && <NewEnrollment onClose={() => setMaking(false)} onCreated={setCreated} />}
    </>
  )
}

function Created({ created, onDone }: { created: CreatedEnrollment; onDone: () => void }) {
  const { enrollmentToken, deviceIdPrefix, maxUses, expiresAt } = created
  return (
    <SecretNote
      title="The token of the enrolment"
      secret={enrollmentToken}
      commands={[
        {
          title: 'On each device',
          line: enrollLine(location.origin, deviceIdPrefix, enrollmentToken),
        },
      ]}
      onDone={onDone}
    >
      It is shown this once, and good for {formatCount(maxUses)} {maxUses === 1 ? 'device' : 'devices'}; it
      expires <RelativeTime at={expiresAt} isAhead />.
    </SecretNote>
  )
}

type Standing = 'open' | 'used up' | 'expired' | 'revoked'

function standingOf({ revokedAt, used, maxUses, expiresAt }: Enrollment, at: number): Standing {
  if (revokedAt !== null) return 'revoked'
  if (used >= maxUses) return 'used up'
  return parseTime(expiresAt) <= at ? 'expired' : 'open'
}

function State({ enrollment }: { enrollment: Enrollment }) {
  const standing = standingOf(enrollment, now.value)
  return (
    <span class={`badge tone-${standing === 'open' ? 'good' : 'off'}`}>
      <Icon name={standing === 'open' ? 'good' : 'off'} />
      {standing}
    </span>
  )
}
