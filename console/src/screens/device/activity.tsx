// The activity of the device, newest first: executions, connections and changes.

import type { Execution } from '@jobcast/client'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { formatCount, stateStyles, type Tone } from '../../parts/exec-state.ts'
import { formatDuration, formatTime, parseTime } from '../../parts/time.ts'
import type { DeviceEvent, DeviceLog } from './use-device-log.ts'

type Entry = { at: number; key: string; tone: Tone; what: ComponentChildren }

const shownAtFirst = 12
const shownMore = 200

export function Activity({ deviceId, log }: { deviceId: string; log: DeviceLog }) {
  const { data } = useQuery(queries.lastExecutionsOf(deviceId))
  const [isLong, setLong] = useState(false)
  const entries = useMemo(() => activityOf(data?.items ?? [], log.events), [data, log.events])
  const shown = entries.slice(0, isLong ? shownMore : shownAtFirst)
  return (
    <section class="panel" aria-labelledby="activity">
      <header>
        <h2 id="activity">Activity</h2>
      </header>
      <ol class="activity">
        {shown.map(({ at, key, tone, what }) => (
          <li key={key} class={`tone-${tone}`}>
            <span>{what}</span>
            <time dateTime={new Date(at).toISOString()} class="quiet">
              {formatTime(at)}
            </time>
          </li>
        ))}
      </ol>
      {log.isReading && entries.length === 0 && <p class="note">Loading the log.</p>}
      {!isLong && entries.length > shownAtFirst && (
        <button type="button" class="ghost in-row" onClick={() => setLong(true)}>
          Show {formatCount(Math.min(entries.length, shownMore) - shownAtFirst)} more
        </button>
      )}
    </section>
  )
}

function activityOf(executions: Execution[], events: DeviceEvent[]): Entry[] {
  return [...executions.flatMap(entriesOf), ...events.map(entryOf)].sort(
    (a, b) => b.at - a.at || (a.key < b.key ? 1 : -1),
  )
}

/** Oldest first within one second, because launch times have no milliseconds. */
function entriesOf(execution: Execution): Entry[] {
  const { jobExecutionId, jobName, execState, launchedAt, startedAt, finishedAt, statusDetails } = execution
  const job = (
    <a href={`/executions/${jobExecutionId}`}>
      <bdi>{jobName}</bdi>
    </a>
  )
  const start = startedAt === null ? undefined : parseTime(startedAt)
  const end = finishedAt === null ? undefined : parseTime(finishedAt)
  const key = (step: number) => `${String(jobExecutionId).padStart(16, '0')} ${step}`
  const entries: Entry[] = [
    {
      at: Math.min(parseTime(launchedAt), start ?? Infinity),
      key: key(0),
      tone: 'waiting',
      what: <>{job} triggered</>,
    },
  ]
  if (start !== undefined) entries.push({ at: start, key: key(1), tone: 'running', what: <>{job} started</> })
  if (end !== undefined) {
    const { word, tone } = stateStyles[execState]
    const took = start === undefined ? '' : ` after ${formatDuration(Math.max(0, end - start))}`
    const why = statusDetails.reason && (
      <>
        : <bdi>{statusDetails.reason}</bdi>
      </>
    )
    entries.push({
      at: end,
      key: key(2),
      tone,
      what: (
        <>
          {job} {word}
          {took}
          {why}
        </>
      ),
    })
  }
  return entries
}

const words: Partial<Record<DeviceEvent['type'], string>> = {
  'device.created': 'Created',
  'device.updated': 'Name or tags changed',
  'device.deleted': 'Deleted',
  'device.online': 'Connected',
  'device.offline': 'Disconnected',
  'device.credential_set': 'Token set',
  'device.credential_revoked': 'Token revoked',
  'device.certificate_allowed': 'Certificate allowed',
}

function entryOf({ eventId, type, timestamp }: DeviceEvent): Entry {
  return {
    at: Date.parse(timestamp),
    key: `event ${String(eventId).padStart(16, '0')}`,
    tone: type === 'device.online' ? 'good' : 'off',
    what: words[type] ?? type,
  }
}
