// All jobs; with ?new the form for another one.

import type { Job } from '@jobcast/client'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { writeDuration } from '../parts/duration.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { search } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { NewJob } from './jobs/new-job.tsx'
import './jobs.css'

const hrefOf = ({ jobName }: Job) => `/jobs/${encodeURIComponent(jobName)}`

const columns: Column<Job>[] = [
  {
    name: 'job',
    title: 'Job',
    width: 'minmax(0, 3fr)',
    cell: (job) => <a href={hrefOf(job)}>{job.jobName}</a>,
  },
  {
    name: 'description',
    title: 'Description',
    width: 'minmax(0, 5fr)',
    isMinor: true,
    cell: ({ description }) => description,
  },
  {
    name: 'policy',
    title: 'Limits',
    width: 'minmax(0, 4fr)',
    isMinor: true,
    cell: (job) => <span class="quiet">{limitsInWords(job)}</span>,
  },
  {
    name: 'updated',
    title: 'Changed',
    width: '110px',
    isMinor: true,
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
]

const triggerColumn: Column<Job> = {
  name: 'trigger',
  title: <span class="hidden">Trigger</span>,
  width: '76px',
  align: 'end',
  cell: ({ jobName }) => (
    <span class="row-buttons">
      <a class="button" href={triggerHref({ jobName })} aria-label={`Trigger ${jobName}`}>
        Trigger
      </a>
    </span>
  ),
}

export default function JobsScreen() {
  const { can } = useScopes()
  if (search.value.has('new') && can('MANAGE')) return <NewJob />
  return <JobList />
}

function JobList() {
  const { can } = useScopes()
  const { list, rows, nextCursor, isLoading, error } = useList(lists.jobs())
  const isEmpty = rows.length === 0 && nextCursor === null
  return (
    <>
      <PageHeader title="Jobs">
        {can('MANAGE') && (
          <a class="button primary" href="/jobs?new">
            New job
          </a>
        )}
      </PageHeader>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {isEmpty && (
        <EmptyState icon="jobs" title="No jobs yet">
          <p>
            A job says what devices can be told to do.{' '}
            {can('MANAGE') ? <a href="/jobs?new">Make the first one</a> : 'A key with MANAGE can make one.'}
          </p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Jobs"
          columns={can('TRIGGER') ? [...columns, triggerColumn] : columns}
          rows={rows}
          idOf={({ jobName }) => jobName}
          hrefOf={hrefOf}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
    </>
  )
}

function limitsInWords({ expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry }: Job): string {
  const limits = [
    expireAfterSeconds !== null && `waits ${writeDuration(expireAfterSeconds)}`,
    timeoutSeconds !== null && `runs ${writeDuration(timeoutSeconds)}`,
    deadlineSeconds !== null && `${writeDuration(deadlineSeconds)} in all`,
    retry !== null && `${retry.max} ${retry.max === 1 ? 'retry' : 'retries'}`,
  ]
  return limits.filter((limit) => limit !== false).join(', ') || 'none'
}
