// The queue of the device.

import type { Device, Execution } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { now, parseTime } from '../../parts/time.ts'

const shownAtMost = 10

export function Queue({ device: { deviceId, online, since } }: { device: Device }) {
  const { data, error } = useQuery(queries.queueOf(deviceId))
  const all = data ? [...data.active, ...data.waiting] : []
  const rest = all.length - shownAtMost
  return (
    <section class="panel" aria-labelledby="queue">
      <header>
        <h2 id="queue">Queue</h2>
        {data && data.waiting.length > 0 && (
          <a href={`/executions?deviceId=${encodeURIComponent(deviceId)}&execState=PENDING`}>
            {formatCount(data.waiting.length)}
            {data.hasMore && ' and more'} waiting
          </a>
        )}
      </header>
      {!data && <ErrorNote error={error} />}
      {data && all.length === 0 && <EmptyState icon="good" title="Queue is empty" />}
      {all.length > 0 && !online && (
        <p class="note queue-note">
          {since === null ? 'Starts when the device connects.' : 'Continues when the device reconnects.'}
        </p>
      )}
      <ol class="queue">
        {all.slice(0, shownAtMost).map((execution, index) => (
          <QueueRow key={execution.jobExecutionId} position={index + 1} execution={execution} />
        ))}
      </ol>
      {rest > 0 && <p class="note queue-rest">and {formatCount(rest)} more</p>}
    </section>
  )
}

function QueueRow({ position, execution }: { position: number; execution: Execution }) {
  const { jobExecutionId, jobName, execState, launchedAt, startedAt, notBefore, attempt, statusDetails } =
    execution
  const isWaitingToRetry = notBefore !== null && parseTime(notBefore) > now.value
  return (
    <li>
      <span class="quiet number">{position}</span>
      <a href={`/executions/${jobExecutionId}`}>
        <strong>{jobName}</strong> <span class="quiet">#{jobExecutionId}</span>
        {execution.priority !== 5 && <span class="quiet"> priority {execution.priority}</span>}
      </a>
      <span class="quiet queue-when">
        {isWaitingToRetry ? (
          <>
            {statusDetails.retryAfterSeconds === undefined ? `attempt ${attempt}` : 'not now, again'}{' '}
            <RelativeTime at={notBefore} isAhead />
          </>
        ) : (
          <>
            {execState === 'PENDING' ? 'triggered ' : 'started '}
            <RelativeTime at={execState === 'PENDING' ? launchedAt : (startedAt ?? launchedAt)} />
          </>
        )}
      </span>
      <StateBadge state={execState} />
    </li>
  )
}
