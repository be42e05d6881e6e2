// The last executions as a strip, newest at the right: colour and shape show the result of each. Arrow keys move
// over it; the one under the pointer or focus is described below.

import type { Execution } from '@jobcast/client'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { countsInWords, stateStyles } from '../../parts/exec-state.ts'
import { formatDuration, formatRelative, now, parseTime } from '../../parts/time.ts'
import { countStates } from './count-states.ts'

export function LastExecutions({ deviceId }: { deviceId: string }) {
  const { data, error } = useQuery(queries.lastExecutionsOf(deviceId))
  const executions = data?.items.toReversed() ?? []
  return (
    <section class="panel" aria-labelledby="last-executions">
      <header>
        <h2 id="last-executions">Last executions</h2>
        {executions.length > 0 && (
          <a href={`/executions?deviceId=${encodeURIComponent(deviceId)}`}>All executions of this device</a>
        )}
      </header>
      {!data && <ErrorNote error={error} />}
      {data && executions.length === 0 && <EmptyState icon="executions" title="No executions yet" />}
      {executions.length > 0 && <Strip executions={executions} />}
    </section>
  )
}

function Strip({ executions }: { executions: Execution[] }) {
  const strip = useRef<HTMLOListElement>(null)
  const [shownId, setShownId] = useState<number>()
  const [focusedId, setFocusedId] = useState<number>()
  const last = executions.at(-1) as Execution
  const reachable = executions.find(({ jobExecutionId }) => jobExecutionId === focusedId) ?? last
  const shown = executions.find(({ jobExecutionId }) => jobExecutionId === shownId)
  const onKeyDown = (event: KeyboardEvent) => {
    const at = executions.indexOf(reachable)
    const steps: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: executions.length - 1,
    }
    const to = steps[event.key]
    if (to === undefined) return
    event.preventDefault()
    strip.current?.querySelectorAll('a')[Math.max(0, Math.min(executions.length - 1, to))]?.focus()
  }
  return (
    <>
      <ol class="strip" ref={strip} onKeyDown={onKeyDown} onPointerLeave={() => setShownId(undefined)}>
        {executions.map((execution) => {
          const { jobExecutionId, execState } = execution
          return (
            <li key={jobExecutionId}>
              <a
                href={`/executions/${jobExecutionId}`}
                class={`tone-${stateStyles[execState].tone} is-${execState.toLowerCase()}`}
                tabIndex={execution === reachable ? 0 : -1}
                onFocus={() => {
                  setFocusedId(jobExecutionId)
                  setShownId(jobExecutionId)
                }}
                onBlur={() => setShownId(undefined)}
                onPointerEnter={() => setShownId(jobExecutionId)}
              >
                <span class="hidden">{inWords(execution, now.value)}</span>
              </a>
            </li>
          )
        })}
      </ol>
      <p class="note strip-note" aria-hidden="true">
        {shown ? inWords(shown, now.value) : countsInWords(countStates(executions))}
      </p>
    </>
  )
}

function inWords(
  { jobName, execState, launchedAt, startedAt, finishedAt }: Execution,
  at: number,
): ComponentChildren {
  const launched = parseTime(launchedAt)
  const took =
    startedAt && finishedAt ? `, took ${formatDuration(parseTime(finishedAt) - parseTime(startedAt))}` : ''
  return (
    <>
      <bdi>{jobName}</bdi>: {stateStyles[execState].word}, triggered{' '}
      {formatRelative(launched, Math.max(at, launched))}
      {took}
    </>
  )
}
