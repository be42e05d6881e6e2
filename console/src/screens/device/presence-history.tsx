// Presence of the device: a strip of the last day or week, and the last connects and disconnects.

import type { Device } from '@jobcast/client'
import { useMemo, useState } from 'preact/hooks'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatDuration, formatTime, now, parseTime } from '../../parts/time.ts'
import { search, setSearch } from '../../router.ts'
import { type Span, type Summary, spansOf, summaryOf } from './presence-spans.ts'
import type { DeviceLog, PresenceChange } from './use-device-log.ts'

const hourMs = 60 * 60_000
const ranges = {
  day: { word: '24 hours', ms: 24 * hourMs, stepMs: 6 * hourMs },
  week: { word: '7 days', ms: 7 * 24 * hourMs, stepMs: 24 * hourMs },
} as const
type Range = keyof typeof ranges

const changesShown = 6

export function PresenceHistory({ device, log }: { device: Device; log: DeviceLog }) {
  const { since } = device
  const [isLong, setLong] = useState(false)
  const range: Range = search.value.get('presence') === 'week' ? 'week' : 'day'
  const { changes, isReading, error } = log
  const to = Math.max(now.value, since === null ? 0 : parseTime(since))
  const spans = useMemo(() => spansOfDevice(device, changes, range, to), [device, changes, range, to])
  const shown = changes.toReversed().slice(0, isLong ? 100 : changesShown)
  return (
    <section class="panel" aria-labelledby="presence">
      <header>
        <h2 id="presence">Presence</h2>
        <fieldset class="segments words">
          <legend class="hidden">How far back</legend>
          {(Object.keys(ranges) as Range[]).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="presence-range"
                checked={range === name}
                onChange={() => setSearch({ presence: name === 'week' ? 'week' : undefined })}
              />
              {ranges[name].word}
            </label>
          ))}
        </fieldset>
      </header>
      <ErrorNote error={error} />
      <Timeline spans={spans} from={to - ranges[range].ms} to={to} stepMs={ranges[range].stepMs} />
      <p class="note">
        {since === null ? 'Never connected.' : inWords(summaryOf(spans), ranges[range].word)}
        {isReading && since !== null && ' Still loading the log.'}
      </p>
      {shown.length > 0 && (
        <ol class="changes" reversed>
          {shown.map((change, index) => (
            <li key={change.at}>
              <span class={`presence ${change.online ? 'online' : ''}`}>
                {change.online ? 'connected' : 'disconnected'}
              </span>
              <time dateTime={new Date(change.at).toISOString()}>{formatTime(change.at)}</time>
              <span class="quiet">
                {/* The previous entry in the list is the later one. */}
                {change.online ? 'online for ' : 'offline for '}
                {formatDuration(Math.max(1000, (shown[index - 1]?.at ?? to) - change.at))}
                {index === 0 && ' so far'}
              </span>
            </li>
          ))}
        </ol>
      )}
      {!isLong && changes.length > changesShown && (
        <button type="button" class="ghost in-row" onClick={() => setLong(true)}>
          Show more
        </button>
      )}
    </section>
  )
}

function spansOfDevice(device: Device, changes: PresenceChange[], range: Range, to: number): Span[] {
  const { online, since, createdAt } = device
  const standing = {
    online,
    since: since === null ? undefined : parseTime(since),
    createdAt: parseTime(createdAt),
  }
  return spansOf(changes, standing, to - ranges[range].ms, to)
}

function inWords({ onlineShare, timesOffline, longestOfflineMs }: Summary, range: string): string {
  if (onlineShare === undefined) return `No presence data for the last ${range}.`
  const share = `Online ${percent(onlineShare)} of the recorded time in the last ${range}`
  if (timesOffline === 0) return `${share}.`
  const times = timesOffline === 1 ? 'once' : `${timesOffline} times`
  return `${share}; offline ${times}, for at most ${formatDuration(longestOfflineMs)}.`
}

/** "99.9 %"; values below 100 % are never rounded up to it. */
function percent(share: number): string {
  const rounded = share > 0.99 ? Math.floor(share * 1000) / 10 : Math.round(share * 100)
  return `${rounded} %`
}

type TimelineProps = { spans: Span[]; from: number; to: number; stepMs: number }

const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' })
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function Timeline({ spans, from, to, stepMs }: TimelineProps) {
  const place = (at: number) => (100 * (at - from)) / (to - from)
  return (
    <div class="timeline">
      <div
        class="timeline-bar"
        role="img"
        aria-label={spans
          .map(
            (span) =>
              `${spanWord(span)} from ${formatTime(span.from)} for ${formatDuration(span.to - span.from)}`,
          )
          .join(', ')}
      >
        {spans.map((span) => (
          <span
            key={span.from}
            class={spanClass(span)}
            title={`${spanWord(span)} ${formatTime(span.from)} – ${formatTime(span.to)}, ${formatDuration(span.to - span.from)}`}
            style={{ left: `${place(span.from)}%`, width: `${place(span.to) - place(span.from)}%` }}
          />
        ))}
      </div>
      <div class="timeline-axis" aria-hidden="true">
        {ticksOf(from, to, stepMs).map((at) => (
          <span key={at} style={{ left: `${place(at)}%` }}>
            {stepMs < 24 * hourMs ? hour.format(at) : day.format(at)}
          </span>
        ))}
      </div>
    </div>
  )
}

function spanWord({ online }: Span): string {
  if (online === undefined) return 'no data'
  return online ? 'online' : 'offline'
}

function spanClass({ online }: Span): string {
  return online === undefined ? 'unknown' : online ? 'online' : 'offline'
}

/** Whole hours or days in local time. */
function ticksOf(from: number, to: number, stepMs: number): number[] {
  const midnight = new Date(from)
  midnight.setHours(0, 0, 0, 0)
  const ticks: number[] = []
  for (let at = midnight.getTime(); at < to; at += stepMs) if (at >= from) ticks.push(at)
  return ticks
}
