// Times in words, and one clock that updates all of them on the screen.

import { signal } from '@preact/signals'

import { parseTime } from './parse-time.ts'

export { parseTime }

/** Updated every ten seconds, which is sufficient for times more than a minute away. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 10_000)

let seconds: ReturnType<typeof setInterval> | undefined
/** For times less than a minute away; updated every second only while such a time is shown. */
const second = signal(Date.now(), {
  watched() {
    this.value = Date.now()
    seconds = setInterval(() => {
      this.value = Date.now()
    }, 1000)
  },
  unwatched: () => clearInterval(seconds),
})

/** The time to compare an instant with: updated every second near it, otherwise every ten seconds. */
export function nowNear(ms: number): number {
  return Math.abs(now.value - ms) < 70_000 ? Math.max(second.value, now.value) : now.value
}

const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export function formatTime(ms: number): string {
  return absolute.format(ms)
}

/** "Europe/Berlin" */
export const timeZone = absolute.resolvedOptions().timeZone

const withZone = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})

/** "16 Nov 2026, 15:31:07 CET" */
export function formatTimeWithZone(ms: number): string {
  return withZone.format(ms)
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

/** "15:31" */
export function formatClock(ms: number): string {
  return clock.format(ms)
}

/** "just now", "4 min ago", "in 2 h" */
export function formatRelative(ms: number, from: number): string {
  const distance = from - ms
  const text = formatDuration(Math.abs(distance))
  if (Math.abs(distance) < 5000) return 'just now'
  return distance > 0 ? `${text} ago` : `in ${text}`
}

/** "12 s", "4 min", "2 h 5 min", "3 d" */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 1) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 || hours >= 6 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d`
}

/** The API writes instants in ISO 8601. */
export function withLocalTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => formatTime(parseTime(instant)))
}
