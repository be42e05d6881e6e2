// The progress of a run over time: how many executions were running and how many had ended. It is loaded once, page by
// page, and updated by events, so that a long run costs no more to watch than a short one.

import { type ExecState, type Execution, isEnd, type JobcastEvent } from '@jobcast/client'
import { jobcast } from '../../api/client.ts'
import { parseTime } from '../../parts/time.ts'
import { changesOf } from '../executions/live-executions.ts'

/** When the last attempt began, when it ended, and the reason that the device gave. */
export type Span = {
  startedAt: number | undefined
  finishedAt: number | undefined
  execState: ExecState
  reason: string | undefined
}
export type Spans = Map<number, Span>

export const progressQuery = (runId: number, onRead: (count: number) => void = () => undefined) => ({
  // Not under ['run', …]: each event would read all of it again.
  queryKey: ['progress', runId] as const,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Spans> => {
    const spans: Spans = new Map()
    for await (const execution of jobcast.executions.list({ runId, limit: 200 }, { signal })) {
      spans.set(execution.jobExecutionId, spanOf(execution))
      if (spans.size % 200 === 0) onRead(spans.size)
    }
    return spans
  },
  staleTime: 60_000,
})

function spanOf({ startedAt, finishedAt, execState, statusDetails }: Execution): Span {
  const at = (time: string | null) => (time === null ? undefined : parseTime(time))
  return {
    startedAt: at(startedAt),
    finishedAt: at(finishedAt),
    execState,
    reason: statusDetails.reason,
  }
}

/** The same if no event is about one of them. */
export function moveProgress(spans: Spans, events: JobcastEvent[]): Spans {
  const changes = [...changesOf(events).values()].flat().filter(({ data }) => spans.has(data.jobExecutionId))
  if (changes.length === 0) return spans
  const moved = new Map(spans)
  for (const { timestamp, data } of changes) {
    const span = moved.get(data.jobExecutionId) as Span
    const at = parseTime(timestamp)
    moved.set(data.jobExecutionId, {
      execState: data.execState,
      startedAt: startOf(span, data, at),
      finishedAt: isEnd(data.execState) ? at : undefined,
      reason: data.statusDetails.reason ?? span.reason,
    })
  }
  return moved
}

function startOf(
  span: Span,
  data: { from: ExecState; execState: ExecState },
  at: number,
): number | undefined {
  if (data.execState === 'PENDING') return undefined
  return data.from === 'PENDING' && data.execState === 'IN_PROGRESS' ? at : span.startedAt
}

export type Progress = { times: number[]; running: number[]; succeeded: number[]; unsuccessful: number[] }

const points = 120

/** Up to the last end once all have ended, else up to now. */
export function progressOf(spans: Spans, launchedAt: number, now: number): Progress {
  const starts: number[] = []
  const ends = { good: [] as number[], bad: [] as number[] }
  let isOpen = false
  for (const { startedAt, finishedAt, execState } of spans.values()) {
    if (startedAt !== undefined) starts.push(startedAt)
    if (finishedAt !== undefined) ends[execState === 'SUCCEEDED' ? 'good' : 'bad'].push(finishedAt)
    else isOpen = true
  }
  // What was canceled or expired while it waited has ended without a start.
  const endsOfStarted = [...spans.values()].flatMap(({ startedAt, finishedAt }) =>
    startedAt !== undefined && finishedAt !== undefined ? [finishedAt] : [],
  )
  const last = Math.max(launchedAt + 1000, ...bounds(starts, ends.good, ends.bad), isOpen ? now : 0)
  const step = (last - launchedAt) / points
  const times = Array.from({ length: points + 1 }, (_, index) => launchedAt + Math.round(index * step))
  const started = upTo(starts, times)
  const over = upTo(endsOfStarted, times)
  return {
    times,
    running: started.map((count, index) => Math.max(0, count - (over[index] as number))),
    succeeded: upTo(ends.good, times),
    unsuccessful: upTo(ends.bad, times),
  }
}

function bounds(...lists: number[][]): number[] {
  return lists.map((list) => list.reduce((most, at) => Math.max(most, at), 0))
}

/** How many had happened at each of the times. */
function upTo(instants: number[], times: number[]): number[] {
  const sorted = instants.toSorted((a, b) => a - b)
  let count = 0
  return times.map((time) => {
    while (count < sorted.length && (sorted[count] as number) <= time) count++
    return count
  })
}
