import { formatDuration, formatRelative, formatTimeWithZone, nowNear, parseTime } from './time.ts'

/** Clocks of server and browser may differ by seconds, so times are never shown as future unless `isAhead`. */
export function RelativeTime({ at, isAhead = false }: { at: string; isAhead?: boolean }) {
  const ms = parseTime(at)
  const now = nowNear(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTimeWithZone(ms)}>
      {formatRelative(ms, isAhead ? now : Math.max(now, ms))}
    </time>
  )
}

/** "11 min", and counting. */
export function Elapsed({ since }: { since: string }) {
  const ms = parseTime(since)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`since ${formatTimeWithZone(ms)}`}>
      {formatDuration(Math.max(1000, nowNear(ms) - ms))}
    </time>
  )
}
