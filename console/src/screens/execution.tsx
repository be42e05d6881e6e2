// One execution: its state and timeline, and the output, document and result of the device.

import './execution.css'
import './execution/ansi.css'
import { type Execution, isEnd, isJobcastError, type Transition } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { formatTime, parseTime, withLocalTimes } from '../parts/time.ts'
import { useSeconds } from '../parts/use-seconds.ts'
import { filterOf, isNumber } from '../parts/wrong-filters.tsx'
import { actorOf } from './execution/actor-of.ts'
import { ExecutionActions } from './execution/execution-actions.tsx'
import { JsonView } from './execution/json-view.tsx'
import { OutputView } from './execution/output-view.tsx'
import { spansOf } from './execution/timeline.ts'
import { TimelineView } from './execution/timeline-view.tsx'
import { usePresence } from './execution/use-presence.ts'

export default function ExecutionScreen({ params }: { params: { jobExecutionId?: string } }) {
  const id = Number(params.jobExecutionId)
  const { data: execution, error, refetch } = useQuery(queries.execution(id))
  if (execution) return <WholeExecution execution={execution} />
  if (isJobcastError(error, 'J-302', 'J-500')) return <NoExecution />
  return (
    <>
      <PageHeader title={`Execution ${params.jobExecutionId}`} />
      <ErrorNote error={error} onRetry={() => void refetch()} />
    </>
  )
}

function WholeExecution({ execution }: { execution: Execution }) {
  const { jobExecutionId, jobName, deviceId } = execution
  // The newest attempt, unless another one is requested.
  const [chosen, setChosen] = useState(() => attemptOf(execution))
  const attempt = chosen ?? execution.attempt
  const { data: history } = useQuery(queries.executionHistory(jobExecutionId))
  return (
    <>
      <PageHeader
        title={`${jobName} on ${deviceId}`}
        heading={
          <>
            <bdi>{jobName}</bdi> on <bdi>{deviceId}</bdi>
          </>
        }
        about={<About execution={execution} />}
      >
        <ExecutionActions execution={execution} />
      </PageHeader>
      <div class="execution-parts">
        <Life execution={execution} history={history?.items ?? []} />
        <Content execution={execution} />
      </div>
      <OutputView
        key={attempt}
        execution={execution}
        attempt={attempt}
        onAttempt={(wanted) => setChosen(wanted === execution.attempt ? undefined : wanted)}
      />
      <History items={history?.items ?? []} />
    </>
  )
}

/** Links to a line contain the attempt. */
function attemptOf({ attempt }: Execution): number | undefined {
  const given = Number(filterOf('attempt', { attempt: isNumber }))
  return given < attempt ? given : undefined
}

function About({
  execution: { jobExecutionId, runId, deviceId, execState, attempt, launchedAt, statusDetails },
}: {
  execution: Execution
}) {
  return (
    <span class="execution-about">
      <StateBadge state={execState} />
      {statusDetails.reason && <strong class="reason">{statusDetails.reason}</strong>}
      <span>
        Execution {jobExecutionId} of <a href={`/runs/${runId}`}>run {runId}</a>
        {attempt > 1 && `, attempt ${attempt}`}, launched <RelativeTime at={launchedAt} />, on{' '}
        <a href={`/devices/${encodeURIComponent(deviceId)}`}>{deviceId}</a>
      </span>
    </span>
  )
}

function Life({ execution, history }: { execution: Execution; history: Transition[] }) {
  const { jobExecutionId, deviceId, launchedAt, execState } = execution
  const explanation = useQuery(queries.executionExplanation(jobExecutionId))
  const device = useQuery(queries.device(deviceId))
  const earlier = useQuery(queries.executionsBefore(execution))
  const presence = usePresence(deviceId, launchedAt)
  const now = useSeconds(!isEnd(execState))
  const spans = spansOf({
    history,
    execution,
    presence,
    device: device.data,
    earlier: earlier.data ?? [],
    now,
  })
  return (
    <section class="panel" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">Timeline</h2>
      </header>
      {explanation.data && !isReportedByDevice(execState) && (
        <p class="explanation" aria-live="polite">
          {withLocalTimes(explanation.data.text)}
        </p>
      )}
      <TimelineView spans={spans} history={history} />
    </section>
  )
}

/** For these states, the timeline and the result are sufficient. */
function isReportedByDevice(state: Execution['execState']): boolean {
  return state === 'SUCCEEDED' || state === 'FAILED' || state === 'REJECTED'
}

function Content({ execution }: { execution: Execution }) {
  const { jobExecutionId, deviceId, result, statusDetails } = execution
  const { data: document, error } = useQuery(queries.executionDocument(jobExecutionId))
  const details = Object.entries(statusDetails)
  return (
    <section class="panel content" aria-label="Sent and received">
      <h2>
        Document for <bdi>{deviceId}</bdi>
      </h2>
      {!document && <ErrorNote error={error} />}
      {document && <JsonView value={document} label="Document for this device" />}
      <h2>Reported by the device</h2>
      {result === null && details.length === 0 && (
        <p class="quiet">{isEnd(execution.execState) ? 'The device reported no result.' : 'Nothing yet.'}</p>
      )}
      {details.length > 0 && (
        <dl class="details">
          {details.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {result !== null && <JsonView value={result} label="Result" />}
    </section>
  )
}

function History({ items }: { items: Transition[] }) {
  return (
    <section class="panel history" aria-labelledby="history">
      <header>
        <h2 id="history">History</h2>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls in a narrow window */}
      <section class="history-rows" tabIndex={0} aria-label="All state changes">
        <table>
          <thead>
            <tr>
              {['Version', 'When', 'What', 'State', 'Attempt', 'Who', 'Reason'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((step) => (
              <tr key={step.versionNumber}>
                <td>{step.versionNumber}</td>
                <td>
                  <time dateTime={step.at}>{formatTime(parseTime(step.at))}</time>
                </td>
                <td>
                  <code>{step.event}</code>
                </td>
                <td>
                  <StateBadge state={step.to} />
                </td>
                <td>{step.attempt}</td>
                <td>{actorOf(step)}</td>
                <td>{step.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function NoExecution() {
  return (
    <>
      <PageHeader title="Execution" />
      <EmptyState icon="executions" title="Execution not found">
        <a href="/executions">Show all executions</a>
      </EmptyState>
    </>
  )
}
