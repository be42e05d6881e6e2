// Current runs: unfinished ones, then those launched in the last hour, with failures first.

import type { Run } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { CommonReason } from '../../attention/common-reason.tsx'
import { CountsWords } from '../../parts/counts-words.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { failuresOf, formatCount } from '../../parts/exec-state.ts'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { RunStateWord } from '../../parts/run-state-word.tsx'
import { StateBar } from '../../parts/state-bar.tsx'
import { now, parseTime } from '../../parts/time.ts'
import { useScopes } from '../../scopes.ts'
import { isWall } from '../../wall.ts'

const hourMs = 60 * 60_000
const shownAtMost = 12

export function RunsNow() {
  const unfinished = useQuery(queries.unfinishedRuns())
  const newest = useQuery(queries.newestRuns())
  const runs = currentRuns(unfinished.data?.items ?? [], newest.data?.items ?? [], now.value)
  const isRead = unfinished.data !== undefined && newest.data !== undefined
  return (
    <section class="panel runs-panel" aria-labelledby="runs-now">
      <header>
        <h2 id="runs-now">Runs now{isWall.value && runs.length > 0 && `: ${formatCount(runs.length)}`}</h2>
        <a href="/runs">All runs</a>
      </header>
      {!isRead && <ErrorNote error={unfinished.error ?? newest.error} />}
      {isRead && runs.length === 0 && <NoRuns hasAny={(newest.data?.items.length ?? 0) > 0} />}
      <ol class="runs-now" aria-live="off">
        {runs.slice(0, shownAtMost).map((run) => (
          <RunRow key={run.runId} run={run} />
        ))}
      </ol>
      {runs.length > shownAtMost && (
        <p class="quiet more">
          <a href="/runs">{formatCount(runs.length - shownAtMost)} more</a>
        </p>
      )}
    </section>
  )
}

function RunRow({ run }: { run: Run }) {
  const { runId, jobName, total, counts, launchedAt, finished } = run
  return (
    <li>
      <div class="run-title">
        <a href={`/runs/${runId}`}>
          <strong>{jobName}</strong> on {formatCount(total)} {total === 1 ? 'device' : 'devices'}
        </a>
        <span class="quiet">
          {finished ? 'finished, started ' : ''}
          <RelativeTime at={launchedAt} />
        </span>
      </div>
      <StateBar counts={counts} total={total} />
      <p class="quiet">
        <RunStateWord run={run} /> <CountsWords counts={counts} />
        {isWall.value && failuresOf(counts) > 0 && (
          <span class="common-reason">
            <CommonReason run={run} />
          </span>
        )}
      </p>
    </li>
  )
}

function NoRuns({ hasAny }: { hasAny: boolean }) {
  const { can } = useScopes()
  return (
    <EmptyState icon="trigger" title={hasAny ? 'No runs in the last hour' : 'No runs yet'}>
      {can('TRIGGER') && hasAny && (
        <p>
          <a href="/trigger">Trigger a job</a>
        </p>
      )}
    </EmptyState>
  )
}

/**
 * Each run once: unfinished ones first, and of these first what devices work on or somebody must decide, not what only
 * waits for devices that are offline; then those with failures, then the newest.
 */
function currentRuns(unfinished: Run[], newest: Run[], at: number): Run[] {
  const recent = newest.filter(({ launchedAt }) => parseTime(launchedAt) > at - hourMs)
  const byId = new Map([...recent, ...unfinished].map((run) => [run.runId, run]))
  const hasFailed = (run: Run) => Number(failuresOf(run.counts) > 0)
  const isMoving = ({ counts, rollout }: Run) =>
    Number(counts.IN_PROGRESS > 0 || (rollout !== null && rollout.state !== 'RELEASED'))
  return [...byId.values()].sort(
    (a, b) =>
      Number(a.finished) - Number(b.finished) ||
      isMoving(b) - isMoving(a) ||
      hasFailed(b) - hasFailed(a) ||
      b.runId - a.runId,
  )
}
