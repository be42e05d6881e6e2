import type { Execution } from '@jobcast/client'
import type { Column } from '../../parts/data-table.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { formatDuration, now, parseTime } from '../../parts/time.ts'

export const executionHref = ({ jobExecutionId }: { jobExecutionId: number }) =>
  `/executions/${jobExecutionId}`

export const executionColumns: Column<Execution>[] = [
  {
    name: 'execution',
    title: 'Execution',
    width: '84px',
    sortBy: ({ jobExecutionId }) => jobExecutionId,
    cell: (execution) => <a href={executionHref(execution)}>{execution.jobExecutionId}</a>,
    under: ({ launchedAt }) => <RelativeTime at={launchedAt} />,
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
    name: 'device',
    title: 'Device',
    width: 'minmax(0, 2fr)',
    sortBy: ({ deviceId }) => deviceId,
    cell: ({ deviceId }) => <a href={`/devices/${encodeURIComponent(deviceId)}`}>{deviceId}</a>,
    under: ({ jobName }) => jobName,
  },
  {
    name: 'state',
    title: 'State',
    width: '112px',
    sortBy: ({ execState }) => execState,
    cell: ({ execState }) => <StateBadge state={execState} />,
    under: detailsOf,
  },
  {
    name: 'details',
    title: 'Details',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: (execution) => <span class="quiet">{detailsOf(execution)}</span>,
  },
  {
    name: 'duration',
    title: 'Duration',
    width: '76px',
    align: 'end',
    isMinor: true,
    sortBy: durationMs,
    cell: (execution) => durationOf(execution),
  },
  {
    name: 'launched',
    title: 'Launched',
    width: '104px',
    align: 'end',
    isMinor: true,
    sortBy: ({ launchedAt }) => launchedAt,
    cell: ({ launchedAt }) => <RelativeTime at={launchedAt} />,
  },
]

/** Without job and launch time, which are the same for all executions of a run. */
export const runExecutionColumns: Column<Execution>[] = executionColumns
  .filter(({ name }) => name !== 'job' && name !== 'launched')
  .map(({ under, ...column }) => {
    if (column.name === 'execution') return { ...column, under: durationOf }
    return under && column.name !== 'device' ? { ...column, under } : column
  })

function detailsOf({ statusDetails }: Execution): string {
  const { reason, ...others } = statusDetails
  return [reason, ...Object.entries(others).map(([name, value]) => `${name}: ${value}`)]
    .filter(Boolean)
    .join(', ')
}

function durationMs({ startedAt, finishedAt }: Execution): number | null {
  if (startedAt === null) return null
  return Math.max(0, (finishedAt ? parseTime(finishedAt) : now.value) - parseTime(startedAt))
}

function durationOf(execution: Execution): string {
  const ms = durationMs(execution)
  return ms === null ? '' : formatDuration(ms)
}
