import { formatDuration, formatRelative, formatTimeWithZone, nowNear, parseTime } from './time.ts'

/** Clocks of server and browser differ by seconds: the past is never shown as the future, unless it `isAhead`. */
export function RelativeTime({ at, isAhead = false }: { at: string; isAhead?: boolean }) {
  const ms = parseTime(at)
  const now = nowNear(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTimeWithZone(ms)}>
      {formatRelative(ms, isAhead ? now : Math.max(now, ms))}
    </time>
  )
}

/** "11 min", and going on. */
export function Elapsed({ since }: { since: string }) {
  const ms = parseTime(since)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`since ${formatTimeWithZone(ms)}`}>
      {formatDuration(Math.max(1000, nowNear(ms) - ms))}
    </time>
  )
}
