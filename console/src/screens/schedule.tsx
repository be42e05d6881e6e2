// One schedule: its next times, its runs, and actions.

import './schedules.css'
import type { Run, Schedule } from '@jobcast/client'
import { requiredApprovals, whoInWords } from '@jobcast/contract/words'
import { isNotFound } from '../api/is-there.ts'
import { lists, queries } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { CountsWords } from '../parts/counts-words.tsx'
import type { Column } from '../parts/data-table.tsx'
import { writeDuration } from '../parts/duration.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { Facts } from '../parts/facts.tsx'
import FailingNote from '../parts/failing-note.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Maker } from '../parts/maker.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { StateBar } from '../parts/state-bar.tsx'
import { timeZone as ownZone, parseTime } from '../parts/time.ts'
import { formatInZone } from '../parts/zoned-time.ts'
import { search } from '../router.ts'
import { useScopes } from '../scopes.ts'
import RunParameters from './run/run-parameters.tsx'
import { NextTimes } from './schedules/next-times.tsx'
import { ScheduleActions } from './schedules/schedule-actions.tsx'
import { stateOf } from './schedules/schedule-state.tsx'
import { targetsInWords, whenInWords } from './schedules/when-in-words.ts'

const SavedDelivery = lazyPart<{ schedule: Schedule }>(() => import('./schedules/saved-delivery.tsx'))

const EditSchedule = lazyPart<{ schedule: Schedule }>(() =>
  import('./schedules/schedule-editor.tsx').then((editor) => ({ default: editor.EditSchedule })),
)

export default function ScheduleScreen({ params }: { params: Record<string, string> }) {
  const scheduleName = params.scheduleName as string
  const { data, error, refetch } = useQuery(queries.schedule(scheduleName))
  const { can } = useScopes()
  const isGone = isNotFound(error)
  const schedule = isGone ? undefined : data
  if (schedule && search.value.has('edit') && can('MANAGE')) return <EditSchedule schedule={schedule} />
  return (
    <>
      <PageHeader title={scheduleName} about={schedule && <State schedule={schedule} />}>
        {schedule && <ScheduleActions schedule={schedule} />}
      </PageHeader>
      {schedule?.failing && <FailingNote failing={schedule.failing} />}
      {isGone && (
        <EmptyState icon="schedules" title="Schedule not found">
          <p>
            <a href="/schedules">All schedules</a>
          </p>
        </EmptyState>
      )}
      {!schedule && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {schedule && (
        <>
          <div class="schedule-parts">
            <About schedule={schedule} />
            <NextTimes schedule={schedule} />
          </div>
          {!schedule.when.match && <SavedDelivery schedule={schedule} />}
          {Object.keys(schedule.parameters).length > 0 && <RunParameters run={schedule} />}
          <History schedule={schedule} />
        </>
      )}
    </>
  )
}

function State({ schedule }: { schedule: Schedule }) {
  const { pausedBecause, pausedBy, pausedByName, pausedAt, failures } = schedule
  return (
    <span role="status">
      {stateOf(schedule)}
      {pausedAt !== null && (
        <>
          {' '}
          <RelativeTime at={pausedAt} />
          {pausedBecause !== null && `: ${pausedBecause}`}
          {pausedBy !== null && (pausedByName !== null || pausedBy.startsWith('key:')) && (
            <>
              {' '}
              (<Maker createdBy={pausedBy} createdByName={pausedByName} />)
            </>
          )}
        </>
      )}
      {failures > 0 && `, ${failures === 1 ? 'the last run' : `the last ${failures} runs`} failed`}
    </span>
  )
}

/** Who put the schedule, which continues if that key is no longer active. */
function Updater({ schedule: { updatedBy, updatedByName, updatedByState } }: { schedule: Schedule }) {
  return (
    <span title={updatedBy ?? undefined}>
      {updatedBy !== null && <bdi>{whoInWords(updatedBy, updatedByName)}</bdi>}
      {updatedByState !== null && updatedByState !== 'ACTIVE' && (
        <span class="quiet"> · {updatedByState.toLowerCase()}</span>
      )}
    </span>
  )
}

const overlaps = {
  SKIP: 'devices that have not finished are skipped',
  REPLACE: 'pending executions are replaced',
  QUEUE: 'executions are queued',
}

function About({ schedule }: { schedule: Schedule }) {
  const { jobName, targets, when, description, overlap, catchUpSeconds, jitterSeconds, until } = schedule
  const none = <span class="quiet">none</span>
  return (
    <section class="panel" aria-labelledby="about-schedule">
      <header>
        <h2 id="about-schedule">About</h2>
      </header>
      <Facts
        facts={[
          ...(description ? [{ name: 'Description', value: description }] : []),
          { name: 'Job', value: <a href={`/jobs/${encodeURIComponent(jobName)}`}>{jobName}</a> },
          { name: 'On', value: targetsInWords(targets) },
          { name: 'When', value: whenInWords(when) },
          ...(when.cron ? [{ name: 'Pattern', value: <code>{when.cron}</code> }] : []),
          ...(when.onLeave ? [{ name: 'On leave', value: 'pending executions are canceled' }] : []),
          ...(until
            ? [{ name: 'Until', value: `${formatInZone(parseTime(until), ownZone)} ${ownZone}` }]
            : []),
          {
            name: 'Window',
            value: schedule.window ? (
              <a href={`/windows/${encodeURIComponent(schedule.window)}`}>{schedule.window}</a>
            ) : (
              <span class="quiet">default of the job</span>
            ),
          },
          { name: 'Priority', value: schedule.priority ?? <span class="quiet">default of the job</span> },
          { name: 'Replaces', value: schedule.replaces ? 'pending executions of the same job' : none },
          { name: 'Overlap', value: overlaps[overlap] },
          {
            name: 'Catch up',
            value: catchUpSeconds === 0 ? none : `up to ${writeDuration(catchUpSeconds)} late`,
          },
          { name: 'Jitter', value: jitterSeconds === 0 ? none : `up to ${writeDuration(jitterSeconds)}` },
          {
            name: 'Pauses',
            value: schedule.pauseAfterFailures
              ? `after ${schedule.pauseAfterFailures} failed runs in a row`
              : none,
          },
          {
            name: 'Rollout',
            value: schedule.rollout ? 'its own rollout' : <span class="quiet">default of the job</span>,
          },
          {
            name: 'Approval',
            value: schedule.approval ? (
              `each run needs ${requiredApprovals(schedule.approval)}`
            ) : (
              <span class="quiet">default of the job</span>
            ),
          },
          { name: 'By', value: <Updater schedule={schedule} /> },
        ]}
      />
    </section>
  )
}

const hrefOf = ({ runId }: Run) => `/runs/${runId}`

const columns: Column<Run>[] = [
  { name: 'run', title: 'Run', width: '64px', cell: (run) => <a href={hrefOf(run)}>{run.runId}</a> },
  {
    name: 'for',
    title: `For (${ownZone})`,
    width: 'minmax(0, 2fr)',
    cell: ({ scheduledFor, launchedAt }) => formatInZone(parseTime(scheduledFor ?? launchedAt), ownZone),
  },
  {
    name: 'devices',
    title: 'Devices',
    width: '76px',
    align: 'end',
    isMinor: true,
    sortBy: ({ total }) => total,
    cell: ({ total }) => formatCount(total),
  },
  {
    name: 'states',
    title: 'States',
    width: 'minmax(80px, 2fr)',
    cell: ({ counts, total }) => <StateBar counts={counts} total={total} />,
  },
  {
    name: 'results',
    title: 'Results',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ counts }) => (
      <span class="quiet">
        <CountsWords counts={counts} />
      </span>
    ),
  },
]

function History({ schedule }: { schedule: Schedule }) {
  const runs = useList(lists.runsOfSchedule(schedule.scheduleName))
  return (
    <section aria-labelledby="schedule-history" class="stack">
      <h2 id="schedule-history">History</h2>
      <PagedTable
        label="Runs of the schedule"
        list={runs}
        columns={columns}
        hrefOf={hrefOf}
        empty={<EmptyState icon="runs" title="No runs yet" />}
      />
    </section>
  )
}
