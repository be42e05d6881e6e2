import { formatRelative, formatTime, now, parseTime } from './time.ts'

/** Servers and browsers differ by seconds: what has happened is never said to come, unless it is `isAhead`. */
export function RelativeTime({ at, isAhead = false }: { at: string; isAhead?: boolean }) {
  const ms = parseTime(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)}>
      {formatRelative(ms, isAhead ? now.value : Math.max(now.value, ms))}
    </time>
  )
}
