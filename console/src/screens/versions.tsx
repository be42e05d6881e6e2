// The versions of a job: authors, times, users, differences between two, and restoring a version.

import './versions.css'
import type { Job, JobVersion } from '@jobcast/client'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { lists, queries } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { useList } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Maker } from '../parts/maker.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { CompareVersions } from './versions/compare-versions.tsx'
import { UsedBy } from './versions/used-by.tsx'

export default function VersionsScreen({ params }: { params: Record<string, string> }) {
  const jobName = params.jobName as string
  const { data: job, error, refetch } = useQuery({ ...queries.job(jobName), staleTime: 0 })
  const isGone = isNotFound(error)
  const href = `/jobs/${encodeURIComponent(jobName)}`
  return (
    <>
      <PageHeader
        title={`Versions of ${jobName}`}
        about={
          <>
            Job <a href={href}>{jobName}</a>
          </>
        }
      />
      {isGone && (
        <EmptyState icon="jobs" title="Job not found">
          <p>
            <a href="/jobs">All jobs</a>
          </p>
        </EmptyState>
      )}
      {!job && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {job && !isGone && <Versions job={job} />}
    </>
  )
}

/** `?from=3&to=5`; default: the newest version and the one before. */
function compared(job: Job): { from: number; to: number } {
  const read = (name: string) => {
    const number = Number(search.value.get(name) ?? '')
    return Number.isInteger(number) && number > 0 ? number : undefined
  }
  const to = read('to') ?? job.version
  return { from: read('from') ?? Math.max(1, to - 1), to }
}

function Versions({ job }: { job: Job }) {
  const versions = useList(lists.jobVersions(job.jobName))
  const { from, to } = compared(job)
  const choose = (change: { from?: number; to?: number }) =>
    setSearch({ from: String(change.from ?? from), to: String(change.to ?? to) })
  return (
    <>
      <section class="panel" aria-label="Versions">
        <ErrorNote error={versions.error} onRetry={() => void versions.list.refresh()} />
        <ol class="versions">
          {versions.rows.map((version) => (
            <VersionRow
              key={version.version}
              version={version}
              job={job}
              from={from}
              to={to}
              choose={choose}
            />
          ))}
        </ol>
        {versions.nextCursor !== null && (
          <button type="button" onClick={() => void versions.list.loadMore()}>
            Show older versions
          </button>
        )}
      </section>
      <CompareVersions jobName={job.jobName} from={from} to={to} />
    </>
  )
}

type RowProps = {
  version: JobVersion
  job: Job
  from: number
  to: number
  choose: (change: { from?: number; to?: number }) => void
}

function VersionRow({ version, job, from, to, choose }: RowProps) {
  const { version: number, isCurrent, createdAt, createdBy, createdByName } = version
  const { can } = useScopes()
  return (
    <li>
      <div class="version-name">
        <strong>Version {number}</strong>
        {isCurrent && <span class="tag">current</span>}
        <span class="quiet">
          <RelativeTime at={createdAt} /> by <Maker {...{ createdBy, createdByName }} />
        </span>
      </div>
      <fieldset class="compare">
        <legend class="hidden">Compare version {number}</legend>
        <label>
          <input
            type="radio"
            name="from"
            checked={number === from}
            onChange={() => choose({ from: number })}
          />
          before
        </label>
        <label>
          <input type="radio" name="to" checked={number === to} onChange={() => choose({ to: number })} />
          after
        </label>
      </fieldset>
      <UsedBy version={version} />
      <span class="row-buttons">
        {can('TRIGGER') && (
          <a
            class="button"
            href={`${triggerHref({ jobName: job.jobName })}&version=${number}`}
            aria-label={`Trigger version ${number}`}
          >
            Trigger
          </a>
        )}
        {can('MANAGE') && !isCurrent && <Restore version={version} job={job} />}
      </span>
    </li>
  )
}

function Restore({ version: { version }, job }: { version: JobVersion; job: Job }) {
  const { jobName } = job
  const restore = async () => {
    await jobcast.jobs.restore(jobName, version, { ifVersion: job.version })
    setSearch({ from: undefined, to: undefined })
    await refreshKeys(['job', jobName], ['jobs'])
  }
  return (
    <ConfirmButton
      label="Restore"
      confirm={`Restore version ${version}`}
      isHarmless
      question={`Version ${job.version + 1} gets the content of version ${version}; new runs use it. Existing runs keep their version.`}
      work={restore}
    />
  )
}
