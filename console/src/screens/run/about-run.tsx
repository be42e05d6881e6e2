// The job, number of devices, launch, duration or estimate, and retries of a run.

import type { Run } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { formatCount, hasBegun } from '../../parts/exec-state.ts'
import { principalWord } from '../../parts/principal-word.ts'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { formatDuration, nowNear, parseTime } from '../../parts/time.ts'
import { unsuccessfulOf } from './run-actions.tsx'
import { remainingOf } from './run-time.ts'

export function AboutRun({ run }: { run: Run }) {
  const {
    runId,
    jobName,
    version,
    total,
    launchedAt,
    retryOf,
    rollbackOf,
    createdBy,
    createdByName,
    window,
    note,
    scheduleName,
  } = run
  const hasFailed = unsuccessfulOf(run) > 0
  const retries = useQuery({ ...queries.retriesOf(run), enabled: hasFailed })
  return (
    <>
      Run {runId} of{' '}
      <a href={`/jobs/${encodeURIComponent(jobName)}`}>
        <bdi>{jobName}</bdi>
      </a>
      , <a href={`/jobs/${encodeURIComponent(jobName)}/versions?to=${version}`}>version {version}</a>, on{' '}
      {formatCount(total)} {total === 1 ? 'device' : 'devices'}, launched <RelativeTime at={launchedAt} />
      {createdByName !== null && (
        <>
          {' '}
          by {principalWord(createdBy)}
          <bdi>{createdByName}</bdi>
        </>
      )}
      , {timeInWords(run, nowNear(parseTime(launchedAt)))}
      {retryOf !== null && (
        <>
          , a retry of <a href={`/runs/${retryOf}`}>run {retryOf}</a>
        </>
      )}
      {scheduleName !== null && (
        <>
          , by the schedule <a href={`/schedules/${encodeURIComponent(scheduleName)}`}>{scheduleName}</a>
        </>
      )}
      {window !== null && (
        <>
          , in the window <a href={`/windows/${encodeURIComponent(window)}`}>{window}</a>
        </>
      )}
      {run.replaces && <>, replacing what waited of the same job</>}
      {run.priority !== 5 && <>, with priority {run.priority}</>}
      {rollbackOf !== null && (
        <>
          , a rollback of <a href={`/runs/${rollbackOf}`}>run {rollbackOf}</a>
        </>
      )}
      {retries.data?.toReversed().map(({ runId: retry }) => (
        <span key={retry}>
          , retried as <a href={`/runs/${retry}`}>run {retry}</a>
        </span>
      ))}
      {note !== null && (
        <>
          . Note: <bdi>{note}</bdi>
        </>
      )}
    </>
  )
}

function timeInWords(run: Run, at: number): string {
  const { launchedAt, finishedAt } = run
  const launched = parseTime(launchedAt)
  if (finishedAt !== null) return `took ${formatDuration(Math.max(0, parseTime(finishedAt) - launched))}`
  if (run.finished) return 'finished'
  const elapsed = Math.max(0, at - launched)
  if (!hasBegun(run)) return `waiting for ${formatDuration(Math.max(1000, elapsed))}`
  // Held executions wait for gates and people, so there is no estimate.
  const isHeld = run.rollout !== null && run.rollout.state !== 'RELEASED'
  const remaining = isHeld ? undefined : remainingOf(run, elapsed)
  const estimate = remaining === undefined ? '' : `, about ${formatDuration(remaining)} left`
  return `running for ${formatDuration(Math.max(1000, elapsed))}${estimate}`
}
