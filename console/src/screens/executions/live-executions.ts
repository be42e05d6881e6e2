// A list of executions in which events update all rows, not only those of the first page.

import {
  type ExecState,
  type Execution,
  isEnd,
  type JobcastEvent,
  type ListExecutionsQuery,
  type Query,
} from '@jobcast/client'
import { useCallback } from 'preact/hooks'
import { lists } from '../../api/queries.ts'
import { useList } from '../../api/use-list.ts'
import { useEvents } from '../../live/live-events.ts'

type ExecutionEvent = Extract<JobcastEvent, { type: `execution.${string}` }>

export type ExecutionsQuery = Query<Omit<ListExecutionsQuery, 'execState'>> & {
  execState?: ExecState[] | undefined
}

export function useLiveExecutions(query: ExecutionsQuery) {
  const shown = useList(lists.executions(query))
  const { list } = shown
  const states = query.execState?.join()
  useEvents(
    useCallback(
      (events: JobcastEvent[]) => {
        const changes = changesOf(events)
        if (!list.state.value.rows.some(({ jobExecutionId }) => changes.has(jobExecutionId))) return
        list.patch((row) => {
          const moved = changes.get(row.jobExecutionId)?.reduce(moveOn, row) ?? row
          return states === undefined || states.split(',').includes(moved.execState) ? moved : undefined
        })
      },
      [list, states],
    ),
  )
  return shown
}

function changesOf(events: JobcastEvent[]): Map<number, ExecutionEvent[]> {
  const changes = events.filter((event): event is ExecutionEvent => event.type.startsWith('execution.'))
  return Map.groupBy(changes, ({ data }) => data.jobExecutionId)
}

/** Applies an event to a row, unless the row is newer. */
function moveOn(row: Execution, { timestamp, data }: ExecutionEvent): Execution {
  if (data.versionNumber <= row.versionNumber) return row
  const begins = data.execState === 'IN_PROGRESS' && data.from === 'PENDING'
  const isRetried = data.execState === 'PENDING'
  return {
    ...row,
    execState: data.execState,
    attempt: isRetried ? data.attempt + 1 : data.attempt, // the event of a retry has the ended attempt
    versionNumber: data.versionNumber,
    startedAt: begins ? timestamp : isRetried ? null : row.startedAt,
    finishedAt: isEnd(data.execState) ? timestamp : row.finishedAt,
    statusDetails: Object.keys(data.statusDetails).length > 0 ? data.statusDetails : row.statusDetails,
  }
}
