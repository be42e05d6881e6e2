// Runs that schedules have made: one for each occurrence, none for anything else, and each device once where a schedule
// gives its job to every device that matches.

import type { JobcastEvent, Run, ScheduleEventData } from '@jobcast/contract'
import type { Final, RecordedSchedule } from './history.ts'

type ScheduleEvent = JobcastEvent & { data: ScheduleEventData }

export function checkSchedules(
  schedules: RecordedSchedule[],
  { runs, executions, log }: Pick<Final, 'runs' | 'executions' | 'log'>,
): string[] {
  const byName = Map.groupBy(
    runs.filter(({ scheduleName }) => scheduleName !== null),
    ({ scheduleName }) => scheduleName as string,
  )
  const told = Map.groupBy(log.filter(isOfSchedule), ({ data }) => data.scheduleName)
  const known = new Set(schedules.map(({ scheduleName }) => scheduleName))
  const problems = [...byName.keys()]
    .filter((name) => !known.has(name))
    .map((name) => `schedule ${name} has runs and does not exist`)
  for (const { scheduleName, due, handledUntil } of schedules) {
    const its = byName.get(scheduleName) ?? []
    const events = told.get(scheduleName) ?? []
    const found = due ? checkOccurrences(due, its, events, handledUntil) : checkGiven(its, executions, log)
    problems.push(...found.map((what) => `schedule ${scheduleName} ${what}`), ...checkFired(its, events))
  }
  return problems
}

function checkOccurrences(
  due: number[],
  runs: Run[],
  events: ScheduleEvent[],
  handledUntil = Number.POSITIVE_INFINITY,
): string[] {
  const problems: string[] = []
  const times = runs.map(({ scheduledFor }) => Date.parse(scheduledFor ?? ''))
  for (const at of new Set(times)) {
    const count = times.filter((each) => each === at).length
    if (count > 1) problems.push(`has ${count} runs for ${textOf(at)}`)
    if (!due.includes(at)) problems.push(`has a run for ${textOf(at)}, when it was not due`)
  }
  for (const at of due) {
    const isFired = events.some(
      ({ type, data }) => type === 'schedule.fired' && data.scheduledFor === textOf(at),
    )
    const isMissed = events.some(
      ({ type, data: { from = '', to = '' } }) =>
        type === 'schedule.missed' && Date.parse(from) <= at && at <= Date.parse(to),
    )
    const isHandled = isFired || isMissed || at <= handledUntil
    if (isHandled && isFired === isMissed)
      problems.push(`was fired: ${isFired}, missed: ${isMissed} for ${textOf(at)}`)
  }
  return problems
}

/** Whoever was deleted and put again may get it again. */
function checkGiven(runs: Run[], executions: Final['executions'], log: JobcastEvent[]): string[] {
  const ids = new Set(runs.map(({ runId }) => runId))
  const given = Map.groupBy(
    executions.filter(({ runId }) => ids.has(runId)),
    ({ deviceId }) => deviceId,
  )
  const lives = (deviceId: string) =>
    1 +
    log.filter(
      ({ type, data }) => type === 'device.deleted' && 'deviceId' in data && data.deviceId === deviceId,
    ).length
  return [...given]
    .filter(([deviceId, its]) => its.length > lives(deviceId))
    .map(([deviceId, its]) => `has given ${deviceId} its job ${its.length} times`)
}

/** Each run was notified of once, with its occurrence. */
function checkFired(runs: Run[], events: ScheduleEvent[]): string[] {
  return runs.flatMap(({ runId, scheduledFor }) => {
    const its = events.filter(({ type, data }) => type === 'schedule.fired' && data.runId === runId)
    const isRight = its.length === 1 && its[0]?.data.scheduledFor === scheduledFor
    return isRight ? [] : [`run ${runId} of a schedule has ${its.length} events that it was fired`]
  })
}

const textOf = (at: number) => new Date(at).toISOString()

function isOfSchedule(event: JobcastEvent): event is ScheduleEvent & JobcastEvent {
  return event.type.startsWith('schedule.')
}
