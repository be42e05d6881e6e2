import type { JobcastEvent, Run } from '@jobcast/client'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { queryClient } from '../../api/query-client.ts'
import { useQuery } from '../../api/use-query.ts'
import { useEvents } from '../../live/live-events.ts'
import { formatCount } from '../../parts/exec-state.ts'
import { parseTime } from '../../parts/time.ts'
import { TimeChart } from '../../parts/time-chart.tsx'
import { useSeconds } from '../../parts/use-seconds.ts'
import { courseOf, courseQuery, moveCourse, type Stays } from './course.ts'

export function CourseChart({ run }: { run: Run }) {
  const { runId, launchedAt, finished } = run
  const [read, setRead] = useState(0)
  const { data, error } = useQuery(courseQuery(runId, setRead))
  const now = useSeconds(!finished)
  useEvents(
    useCallback(
      (events: JobcastEvent[]) => {
        queryClient.setQueryData<Stays>(
          courseQuery(runId).queryKey,
          (stays) => stays && moveCourse(stays, events),
        )
      },
      [runId],
    ),
  )
  // Of a run that goes on, many small changes are one drawing.
  const shown = finished ? data : undefined
  const course = useMemo(
    () => courseOf(queryClient.getQueryData(courseQuery(runId).queryKey) ?? none, parseTime(launchedAt), now),
    [runId, launchedAt, now, shown, data === undefined],
  )
  const curves = useMemo(
    () => [
      { label: 'succeeded', tone: 'good' as const, values: course.succeeded },
      { label: 'unsuccessful', tone: 'bad' as const, values: course.unsuccessful },
      { label: 'running', tone: 'running' as const, values: course.running },
    ],
    [course],
  )
  const label =
    `Course of the run: ${formatCount(course.succeeded.at(-1) ?? 0)} succeeded, ` +
    `${formatCount(course.unsuccessful.at(-1) ?? 0)} unsuccessful, ${formatCount(course.running.at(-1) ?? 0)} running`
  if (data === undefined) {
    return (
      <p class="course-unread quiet" role="status">
        {error
          ? 'Its course could not be read.'
          : `Reading its course: ${formatCount(read)} of ${formatCount(run.total)}`}
      </p>
    )
  }
  return <TimeChart label={label} times={course.times} curves={curves} height={150} />
}

const none: Stays = new Map()
