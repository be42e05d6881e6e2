// One window: its openings and its users.

import type { Window } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { queries } from '../api/queries.ts'
import { removeRow } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { changeFacts } from '../parts/change-facts.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CronText } from '../parts/cron-phrase.tsx'
import { writeDuration } from '../parts/duration.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Facts } from '../parts/facts.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { timeZone as ownZone } from '../parts/time.ts'
import { navigate, search } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { NextOpenings } from './windows/next-openings.tsx'
import { WindowForm } from './windows/window-form.tsx'
import { deviceZone, zoneInWords } from './windows/zone-in-words.ts'

export default function WindowScreen({ params }: { params: Record<string, string> }) {
  const windowName = params.windowName as string
  const { data, error, refetch } = useQuery(queries.window(windowName))
  const isGone = isNotFound(error)
  const window = isGone ? undefined : data
  return (
    <>
      <PageHeader title={windowName} about={window && `In ${zoneInWords(window.timeZone)} time`}>
        {window && <Actions window={window} />}
      </PageHeader>
      {isGone && (
        <EmptyState icon="windows" title="Window not found">
          <p>
            <a href="/windows">All windows</a>
          </p>
        </EmptyState>
      )}
      {!window && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {window && (
        <>
          <About window={window} />
          <NextOpenings window={window} zone={search.value.get('zone') ?? zoneOf(window)} />
        </>
      )}
    </>
  )
}

function zoneOf({ timeZone }: Window): string {
  return timeZone === deviceZone ? ownZone : timeZone
}

function Actions({ window }: { window: Window }) {
  const { can } = useScopes()
  const [isEditing, setEditing] = useState(false)
  const { windowName } = window
  const remove = async () => {
    await jobcast.windows.delete(windowName)
    removeRow(['windows'], windowName)
    navigate('/windows')
  }
  if (!can('MANAGE')) return null
  return (
    <>
      <button type="button" onClick={() => setEditing(true)}>
        Edit
      </button>
      <ConfirmButton
        label="Delete window"
        question={
          <p>
            <strong>{windowName}</strong> is deleted, unless a job, a schedule, a group, a device or an
            unfinished run uses it.
          </p>
        }
        work={remove}
      />
      {isEditing && <WindowForm window={window} onClose={() => setEditing(false)} />}
    </>
  )
}

function About({ window }: { window: Window }) {
  const { cron, durationMinutes, cutoffMinutes, timeZone, except } = window
  return (
    <section class="panel" aria-label="About">
      <Facts
        facts={[
          { name: 'Opens at', value: <CronText cron={cron} /> },
          { name: 'Stays open for', value: writeDuration(durationMinutes * 60) },
          {
            name: 'Nothing new',
            value:
              cutoffMinutes === 0
                ? 'after it has closed'
                : `for the last ${writeDuration(cutoffMinutes * 60)}`,
          },
          { name: 'Time zone', value: zoneInWords(timeZone) },
          {
            name: 'Closed on',
            value: except.length === 0 ? <span class="quiet">no day</span> : except.join(', '),
          },
          { name: 'Used by', value: <Users windowName={window.windowName} /> },
          ...changeFacts(window),
        ]}
      />
    </section>
  )
}

function Users({ windowName }: { windowName: string }) {
  const jobs = useQuery(queries.allJobs()).data
  const schedules = useQuery(queries.allSchedules()).data
  const groups = useQuery(queries.allGroups()).data
  if (!jobs || !schedules || !groups) return null
  const isUser = ({ window }: { window: string | null }) => window === windowName
  const users = [
    ...jobs.filter(isUser).map(({ jobName }) => ({ kind: 'job', folder: 'jobs', name: jobName })),
    ...schedules
      .filter(isUser)
      .map(({ scheduleName: name }) => ({ kind: 'schedule', folder: 'schedules', name })),
    ...groups.filter(isUser).map(({ groupName: name }) => ({ kind: 'group', folder: 'groups', name })),
  ]
  if (users.length === 0) return <span class="quiet">no job, schedule or group</span>
  return (
    <ul>
      {users.map(({ kind, folder, name }) => (
        <li key={`${kind} ${name}`}>
          {kind} <a href={`/${folder}/${encodeURIComponent(name)}`}>{name}</a>
        </li>
      ))}
    </ul>
  )
}
