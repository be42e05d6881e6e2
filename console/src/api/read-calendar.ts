// Occurrences of schedules, scheduled runs and openings of windows between two instants.

import type { Schedule, Window } from '@jobcast/client'
import { parseTime } from '../parts/parse-time.ts'
import { jobcast } from './client.ts'

export type CalendarQuery = {
  from: number
  to: number
  /** The zones in which windows with the zone of the device are shown. */
  deviceZones: readonly string[]
}

/** `at` in milliseconds, like all times here. */
export type ComingRun = { at: number; name: string; href: string }
export type WindowSpan = { from: number; until: number; name: string; zone: string; href: string }
export type CalendarContent = {
  runs: ComingRun[]
  windows: WindowSpan[]
  /** Names of schedules and windows with more times than shown. */
  cut: string[]
  isEmpty: boolean
}

const schedulesAtMost = 100
const windowsAtMost = 30
/** The maximum that the API returns at once. */
const timesAtMost = 100

type Options = { signal: AbortSignal }

export async function readCalendar(query: CalendarQuery, options: Options): Promise<CalendarContent> {
  const [schedules, windows, later] = await Promise.all([
    jobcast.schedules.list({ limit: schedulesAtMost }, options).page(),
    jobcast.windows.list({ limit: windowsAtMost }, options).page(),
    jobcast.runs.list({ finished: false, rolloutState: 'SCHEDULED', limit: timesAtMost }, options).page(),
  ])
  const cut: string[] = [
    ...(schedules.nextCursor === null ? [] : ['schedules']),
    ...(windows.nextCursor === null ? [] : ['windows']),
  ]
  const timed = schedules.items.filter(({ paused, nextAt }) => !paused && nextAt !== null)
  const ofSchedules = await Promise.all(timed.map((schedule) => runsOf(schedule, query, cut, options)))
  const zoned = windows.items.flatMap((window) => zonesOf(window, query).map((zone) => ({ window, zone })))
  const spans = await Promise.all(zoned.map(({ window, zone }) => spansOf(window, zone, query, options)))
  const single = later.items.flatMap(({ runId, jobName, rollout }) =>
    rollout?.nextAt
      ? [{ at: parseTime(rollout.nextAt), name: `${jobName} (run ${runId})`, href: `/runs/${runId}` }]
      : [],
  )
  const runs = [...ofSchedules.flat(), ...single].filter(({ at }) => at >= query.from && at < query.to)
  return {
    runs: runs.sort((a, b) => a.at - b.at),
    windows: spans.flat().sort((a, b) => a.from - b.from),
    cut,
    isEmpty: schedules.items.length === 0 && windows.items.length === 0 && later.items.length === 0,
  }
}

async function runsOf(
  { scheduleName: name }: Schedule,
  { to }: CalendarQuery,
  cut: string[],
  { signal }: Options,
): Promise<ComingRun[]> {
  const times = await jobcast.schedules.next(name, { count: timesAtMost, signal })
  const last = times.at(-1)
  if (times.length === timesAtMost && last && parseTime(last.at) < to) cut.push(name)
  return times.map(({ at }) => ({ at: parseTime(at), name, href: `/schedules/${encodeURIComponent(name)}` }))
}

/** The fixed zone of the window, or the requested device zones. */
function zonesOf({ timeZone }: Window, { deviceZones }: CalendarQuery): readonly string[] {
  return timeZone === 'device' ? deviceZones : [timeZone]
}

async function spansOf(
  { windowName: name, timeZone }: Window,
  zone: string,
  { from, to }: CalendarQuery,
  { signal }: Options,
): Promise<WindowSpan[]> {
  const after = new Date(from).toISOString()
  const query = { count: timesAtMost, after, ...(timeZone === 'device' && { timeZone: zone }) }
  const { items } = await jobcast.windows.next(name, query, { signal })
  const href = `/windows/${encodeURIComponent(name)}`
  return items
    .map(({ at, until }) => ({ from: parseTime(at), until: parseTime(until), name, zone, href }))
    .filter((span) => span.from < to)
}
