// Executions of runs under windows start only while their window is open.

import { WindowTimes } from '../../src/domain/window/window-times.ts'
import type { Final, RecordedWindow } from './history.ts'

const usuallyLateMs = 10_000

export function checkWindows(
  windows: RecordedWindow[],
  { runs, log }: Pick<Final, 'runs' | 'log'>,
): string[] {
  const rules = new Map(
    windows.map(({ windowName, ...rule }) => [
      windowName,
      new WindowTimes({ ...rule, cutoffMinutes: 0, except: [] }, rule.timeZone),
    ]),
  )
  const lateOf = new Map(windows.map(({ windowName, closedLateMs }) => [windowName, closedLateMs]))
  const windowOf = new Map(runs.map(({ runId, window }) => [runId, window]))
  return log.flatMap(({ data, timestamp }) => {
    if (!('jobExecutionId' in data) || data.cause !== 'start' || data.attempt > 1) return []
    const window = windowOf.get(data.runId) ?? null
    if (window === null) return []
    const at = Date.parse(timestamp)
    const opening = rules.get(window)?.opening(at - (lateOf.get(window) ?? usuallyLateMs))
    const isOpen = opening !== undefined && opening.from <= at
    return isOpen
      ? []
      : [`execution ${data.jobExecutionId} started at ${timestamp}, outside of window ${window}`]
  })
}
