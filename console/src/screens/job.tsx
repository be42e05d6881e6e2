// One job: its definition, which can be edited, and its recent runs.

import { isJobcastError, type Job } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { queries } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { countsInWords, formatCount } from '../parts/exec-state.ts'
import { Maker } from '../parts/maker.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { StateBar } from '../parts/state-bar.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { useScopes } from '../scopes.ts'
import { DeleteJob } from './jobs/delete-job.tsx'
import { contentOf, newDraft, problemOf } from './jobs/job-draft.ts'
import { isAtJobField, JobFields } from './jobs/job-fields.tsx'
import { useKeptDraft } from './jobs/kept-draft.ts'
import { SignedBy } from './jobs/signed-by.tsx'
import './jobs.css'

export default function JobScreen({ params }: { params: Record<string, string> }) {
  const jobName = params.jobName as string
  const { data: job, error, refetch } = useQuery(queries.job(jobName))
  const { can } = useScopes()
  const isGone = isNotFound(error)
  return (
    <>
      <PageHeader
        title={jobName}
        about={
          job &&
          !isGone && (
            <>
              <a href={`/jobs/${encodeURIComponent(jobName)}/versions`}>version {job.version}</a>, updated{' '}
              <RelativeTime at={job.updatedAt} />
              {job.updatedBy !== null && (
                <>
                  {' '}
                  by <Maker createdBy={job.updatedBy} createdByName={job.updatedByName} />
                </>
              )}
            </>
          )
        }
      >
        {can('TRIGGER') && job && !isGone && (
          <a class="button primary" href={triggerHref({ jobName })}>
            Trigger
          </a>
        )}
        {can('MANAGE') && job && !isGone && <DeleteJob jobName={jobName} />}
      </PageHeader>
      {isGone && (
        <EmptyState icon="jobs" title="Job not found">
          <p>
            <a href="/jobs">All jobs</a>
          </p>
        </EmptyState>
      )}
      {!job && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {job && !isGone && (
        <div class="job-parts">
          <JobForm job={job} />
          <div class="stack">
            <SignedBy job={job} />
            <Runs jobName={jobName} />
          </div>
        </div>
      )}
    </>
  )
}

function JobForm({ job }: { job: Job }) {
  const { can } = useScopes()
  /** Undefined until something is edited; until then the form shows changes by others. */
  const [edited, setEdited] = useKeptDraft(job.jobName)
  const [isSaved, setSaved] = useState(false)
  const original = newDraft(job)
  const draft = edited ?? original
  const save = useAction(async () => {
    // Fails if the job was changed concurrently.
    try {
      await jobcast.jobs.put(job.jobName, contentOf(draft), { ifVersion: draft.version })
    } catch (error) {
      if (isJobcastError(error, 'J-312')) await refreshKeys(['job', job.jobName])
      throw error
    }
    await refreshKeys(['job', job.jobName], ['jobs'])
    setEdited(undefined)
    setSaved(true)
  })
  const isChanged = JSON.stringify(draft) !== JSON.stringify(original)
  return (
    <form
      class="panel stack"
      aria-label="Definition"
      onSubmit={(event) => {
        event.preventDefault()
        void save.run()
      }}
    >
      <JobFields
        draft={draft}
        onChange={(next) => {
          setSaved(false)
          setEdited(next)
        }}
        isReadOnly={!can('MANAGE')}
        isEdited={edited !== undefined}
        error={save.error}
      />
      {!isAtJobField(save.error) && <ErrorNote error={save.error} />}
      {isJobcastError(save.error, 'J-312') && (
        <p>
          It is version {job.version} by now.{' '}
          <a href={`/jobs/${encodeURIComponent(job.jobName)}/versions`}>Compare the versions</a>, then discard
          your changes or save over it:{' '}
          <button type="button" onClick={() => setEdited({ ...draft, version: job.version })}>
            Keep my changes
          </button>
        </p>
      )}
      {can('MANAGE') && (
        <footer class="form-end">
          <span class="quiet saved" role="status">
            {isSaved && !isChanged ? 'Saved. New runs use it.' : ''}
          </span>
          {isChanged && (
            <button type="button" onClick={() => setEdited(undefined)}>
              Discard changes
            </button>
          )}
          <button
            type="submit"
            class="primary"
            disabled={!isChanged || problemOf(draft) !== undefined || save.isRunning}
          >
            Save
          </button>
        </footer>
      )}
    </form>
  )
}

function Runs({ jobName }: { jobName: string }) {
  const { data, error } = useQuery(queries.runsOfJob(jobName))
  return (
    <section class="panel" aria-labelledby="runs-of-job">
      <header>
        <h2 id="runs-of-job">Recent runs</h2>
        {data && data.items.length > 0 && (
          <a href={`/runs?jobName=${encodeURIComponent(jobName)}`}>All runs of this job</a>
        )}
      </header>
      {!data && <ErrorNote error={error} />}
      {data?.items.length === 0 && <EmptyState icon="trigger" title="Not triggered yet" />}
      <ol class="job-runs">
        {data?.items.map(({ runId, total, counts, launchedAt }) => (
          <li key={runId}>
            <div>
              <a href={`/runs/${runId}`}>
                Run {runId} on {formatCount(total)} {total === 1 ? 'device' : 'devices'}
              </a>
              <span class="quiet">
                <RelativeTime at={launchedAt} />
              </span>
            </div>
            <StateBar counts={counts} total={total} />
            <p class="note">{countsInWords(counts)}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}
