import type { Execution } from '@jobcast/client'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { formatDuration, now, parseTime } from '../../parts/time.ts'

export const executionHref = ({ jobExecutionId }: { jobExecutionId: number }) =>
  `/executions/${jobExecutionId}`

const columns: Column<Execution>[] = [
  {
    name: 'execution',
    title: 'Execution',
    width: '92px',
    isMinor: true,
    cell: (execution) => <a href={executionHref(execution)}>{execution.jobExecutionId}</a>,
  },
  {
    name: 'job',
    title: 'Job',
    width: 'minmax(0, 2fr)',
    cell: (execution) => <a href={executionHref(execution)}>{execution.jobName}</a>,
  },
  {
    name: 'device',
    title: 'Device',
    width: 'minmax(0, 2fr)',
    cell: ({ deviceId }) => <a href={`/devices/${encodeURIComponent(deviceId)}`}>{deviceId}</a>,
  },
  {
    name: 'state',
    title: 'State',
    width: '112px',
    cell: ({ execState }) => <StateBadge state={execState} />,
  },
  {
    name: 'said',
    title: 'Device said',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: (execution) => <span class="quiet">{sayingOf(execution)}</span>,
  },
  {
    name: 'took',
    title: 'Took',
    width: '76px',
    align: 'end',
    isMinor: true,
    cell: (execution) => tookOf(execution),
  },
  {
    name: 'launched',
    title: 'Launched',
    width: '104px',
    align: 'end',
    isMinor: true,
    cell: ({ launchedAt }) => <RelativeTime at={launchedAt} />,
  },
]

/** In a run the job is always the same, and its device is what a row is known by. */
const columnsOfRun = columns
  .filter(({ name }) => name !== 'job' && name !== 'launched')
  .map((column) =>
    column.name === 'device'
      ? {
          ...column,
          cell: (execution: Execution) => <a href={executionHref(execution)}>{execution.deviceId}</a>,
        }
      : column,
  )

type Props = {
  label: string
  rows: Execution[]
  ofRun?: boolean
  hasMore: boolean
  isLoading: boolean
  onEndNear: () => void
}

export function ExecutionTable({ ofRun = false, ...rest }: Props) {
  return (
    <DataTable
      {...rest}
      columns={ofRun ? columnsOfRun : columns}
      idOf={({ jobExecutionId }) => jobExecutionId}
      hrefOf={executionHref}
    />
  )
}

function sayingOf({ statusDetails }: Execution): string {
  const { reason, ...others } = statusDetails
  return [reason, ...Object.entries(others).map(([name, value]) => `${name}: ${value}`)]
    .filter(Boolean)
    .join(', ')
}

function tookOf({ startedAt, finishedAt }: Execution): string {
  if (startedAt === null) return ''
  return formatDuration(Math.max(0, (finishedAt ? parseTime(finishedAt) : now.value) - parseTime(startedAt)))
}
