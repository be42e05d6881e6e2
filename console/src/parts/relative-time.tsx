import { formatRelative, formatTime, now, parseTime } from './time.ts'

export function RelativeTime({ at }: { at: string }) {
  const ms = parseTime(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)}>
      {formatRelative(ms, Math.max(now.value, ms))}
    </time>
  )
}
