// All schedules with their next runs; with ?new the form for a new one.

import type { Schedule } from '@jobcast/client'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'
import { search } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { NoSchedules } from './schedules/no-schedules.tsx'
import { ScheduleState } from './schedules/schedule-state.tsx'
import { whenInWords } from './schedules/when-in-words.ts'

const hrefOf = ({ scheduleName }: Schedule) => `/schedules/${encodeURIComponent(scheduleName)}`

const columns: Column<Schedule>[] = [
  {
    name: 'schedule',
    title: 'Schedule',
    width: 'minmax(0, 2fr)',
    sortBy: ({ scheduleName }) => scheduleName,
    cell: (schedule) => <a href={hrefOf(schedule)}>{schedule.scheduleName}</a>,
  },
  {
    name: 'state',
    title: 'State',
    width: '90px',
    sortBy: ({ paused, nextAt }) => `${paused} ${nextAt === null}`,
    cell: (schedule) => <ScheduleState schedule={schedule} />,
  },
  {
    name: 'job',
    title: 'Job',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    sortBy: ({ jobName }) => jobName,
    cell: ({ jobName }) => <a href={`/jobs/${encodeURIComponent(jobName)}`}>{jobName}</a>,
  },
  {
    name: 'when',
    title: 'When',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ when }) => whenInWords(when),
  },
  {
    name: 'next',
    title: 'Next run',
    width: '110px',
    sortBy: ({ nextAt }) => nextAt ?? '~',
    cell: ({ nextAt }) => (nextAt ? <RelativeTime at={nextAt} isAhead /> : <span class="quiet">none</span>),
  },
  {
    name: 'last',
    title: 'Last run',
    width: '110px',
    isMinor: true,
    sortBy: ({ lastFiredAt }) => lastFiredAt,
    cell: ({ lastRunId, lastFiredAt }) =>
      lastFiredAt ? (
        lastRunId === null ? (
          <RelativeTime at={lastFiredAt} />
        ) : (
          <a href={`/runs/${lastRunId}`}>
            <RelativeTime at={lastFiredAt} />
          </a>
        )
      ) : (
        <span class="quiet">never</span>
      ),
  },
]

const NewSchedule = lazyPart<object>(() =>
  import('./schedules/schedule-editor.tsx').then((editor) => ({ default: editor.NewSchedule })),
)

export default function SchedulesScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  if (search.value.has('new') && can('MANAGE')) return <NewSchedule />
  return <ScheduleList route={route} />
}

function ScheduleList({ route }: Pick<ScreenProps, 'route'>) {
  const { can } = useScopes()
  return (
    <ListScreen
      route={route}
      actions={
        <>
          <a class="button" href="/calendar">
            Calendar
          </a>
          {can('MANAGE') && (
            <a class="button primary" href="/schedules?new">
              New schedule
            </a>
          )}
        </>
      }
      list={useList(lists.schedules())}
      columns={columns}
      hrefOf={hrefOf}
      empty={<NoSchedules />}
    />
  )
}
