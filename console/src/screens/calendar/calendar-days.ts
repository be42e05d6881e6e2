// Future runs and windows by day in one zone, with their positions in the columns of a week.

import type { CalendarContent, ComingRun, WindowSpan } from '../../api/read-calendar.ts'
import { addDays, startOfDay, wallTime } from '../../parts/zoned-time.ts'

/** `minute`: of the day, in local time. `count`: the number of runs within the hour. */
export type DayRun = ComingRun & { minute: number; count: number; top: number }
export type DayWindow = WindowSpan & { top: number; bottom: number; lane: number; lanes: number }
export type CalendarDay = {
  date: string
  start: number
  runs: DayRun[]
  windows: DayWindow[]
  height: number
}

export const dayCount = 7
export const hourHeight = 28
const runHeight = 24
const dayHeight = 24 * hourHeight

export function calendarDays(first: string, zone: string, content: CalendarContent): CalendarDay[] {
  return Array.from({ length: dayCount }, (_, index) => {
    const date = addDays(first, index)
    const [start, end] = [startOfDay(date, zone), startOfDay(addDays(date, 1), zone)]
    const runs = placeRuns(
      content.runs.filter(({ at }) => at >= start && at < end),
      zone,
    )
    const windows = placeWindows(
      content.windows.filter(({ from, until }) => from < end && until > start),
      { start, end, zone },
    )
    const height = Math.max(dayHeight, ...runs.map(({ top }) => top + runHeight))
    return { date, start, runs, windows, height }
  })
}

/** Moves runs down if there is no space at their time. */
function placeRuns(runs: ComingRun[], zone: string): DayRun[] {
  const placed = new Map<string, DayRun>()
  let free = 0
  for (const run of runs) {
    const { hour, minute } = wallTime(run.at, zone)
    const key = `${run.href} ${hour}`
    const same = placed.get(key)
    if (same) {
      same.count++
      continue
    }
    const ofDay = hour * 60 + minute
    const top = Math.max(free, (ofDay / 60) * hourHeight)
    free = top + runHeight
    placed.set(key, { ...run, minute: ofDay, count: 1, top })
  }
  return [...placed.values()]
}

type Day = { start: number; end: number; zone: string }

/** Each window of a zone has its own lane, so that bands do not overlap. */
function placeWindows(spans: WindowSpan[], { start, end, zone }: Day): DayWindow[] {
  const laneOf = (span: WindowSpan) => `${span.name} ${span.zone}`
  const lanes = [...new Set(spans.map(laneOf))].sort()
  return spans.map((span) => {
    const minute = (at: number) => {
      const wall = wallTime(at, zone)
      return wall.hour * 60 + wall.minute
    }
    const top = span.from <= start ? 0 : (minute(span.from) / 60) * hourHeight
    const bottom = span.until >= end ? dayHeight : (minute(span.until) / 60) * hourHeight
    return { ...span, top, bottom, lane: lanes.indexOf(laneOf(span)), lanes: lanes.length }
  })
}
