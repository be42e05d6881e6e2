// Enrollments: tokens that devices exchange for tokens of their own.

import type { CreatedEnrollment, Enrollment } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { lists } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { useList } from '../api/use-list.ts'
import { enrollLine } from '../parts/command-line.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { Icon } from '../parts/icon.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SecretNote } from '../parts/secret-note.tsx'
import { now, parseTime } from '../parts/time.ts'
import type { ScreenProps } from '../route.ts'
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
    title: 'ID prefix',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ deviceIdPrefix }) =>
      deviceIdPrefix ? <code>{deviceIdPrefix}</code> : <span class="quiet">any</span>,
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
  {
    name: 'maker',
    title: 'Created by',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ createdBy, createdByName, createdBySession }) => (
      <Maker {...{ createdBy, createdByName, createdBySession }} />
    ),
  },
]

const revokeColumn: Column<Enrollment> = {
  name: 'revoke',
  title: <span class="hidden">Revoke</span>,
  width: '76px',
  cell: (enrollment) =>
    statusOf(enrollment, now.value) === 'open' && (
      <span class="row-buttons">
        <ConfirmButton
          label="Revoke"
          question={
            <p>
              No more devices can enroll with <strong>{enrollment.name ?? enrollment.enrollmentId}</strong>.
              Devices that have enrolled keep their tokens.
            </p>
          }
          work={async () => {
            await jobcast.enrollments.revoke(enrollment.enrollmentId)
            await refreshKeys(['enrollments'])
          }}
        />
      </span>
    ),
}

export default function EnrollmentsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<CreatedEnrollment>()
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New enrollment
          </button>
        )
      }
      notice={created && <Created created={created} onDone={() => setCreated(undefined)} />}
      list={useList(lists.enrollments())}
      columns={can('MANAGE') ? [...columns, revokeColumn] : columns}
      empty={<NoEnrollments />}
    >
      {isCreating && <NewEnrollment onClose={() => setCreating(false)} onCreated={setCreated} />}
    </ListScreen>
  )
}

function NoEnrollments() {
  const { can } = useScopes()
  return (
    <EmptyState icon="enrollments" title="No enrollments yet">
      <p>
        An enrollment is one token for many devices: each device exchanges it for its own token.{' '}
        {can('MANAGE') ? 'Create one with “New enrollment”.' : 'A key with the MANAGE scope can create one.'}
      </p>
    </EmptyState>
  )
}

function Created({ created, onDone }: { created: CreatedEnrollment; onDone: () => void }) {
  const { enrollmentToken, deviceIdPrefix, maxUses, expiresAt } = created
  return (
    <SecretNote
      title="Enrollment token"
      secret={enrollmentToken}
      commands={[
        {
          title: 'On each device',
          line: enrollLine(location.origin, deviceIdPrefix, enrollmentToken),
        },
      ]}
      onDone={onDone}
    >
      It is shown only once. {formatCount(maxUses)} {maxUses === 1 ? 'device' : 'devices'} can use it; it
      expires <RelativeTime at={expiresAt} isAhead />.
    </SecretNote>
  )
}

type Status = 'open' | 'used up' | 'expired' | 'revoked'

function statusOf({ revokedAt, used, maxUses, expiresAt }: Enrollment, at: number): Status {
  if (revokedAt !== null) return 'revoked'
  if (used >= maxUses) return 'used up'
  return parseTime(expiresAt) <= at ? 'expired' : 'open'
}

function State({ enrollment }: { enrollment: Enrollment }) {
  const status = statusOf(enrollment, now.value)
  return (
    <span class={`badge tone-${status === 'open' ? 'good' : 'off'}`}>
      <Icon name={status === 'open' ? 'good' : 'off'} />
      {status}
    </span>
  )
}
