// An event as a line of text.

import type { JobcastEvent, ScheduleEventData } from '@jobcast/client'
import { clockTime } from './clock-time.ts'
import { type Paint, paintState } from './colors.ts'
import { localTime } from './local-time.ts'
import { countsText, reasonOf } from './progress.ts'
import { plainText } from './text-width.ts'

/** 12:03:04  81  execution.failed  restart on kiosk-7: exit code 1 (execution 34, run 12) */
export function eventLine({ eventId, type, timestamp, data }: JobcastEvent, paint: Paint): string {
  const head = `${clockTime(new Date(timestamp))}  ${eventId}  `
  if ('jobExecutionId' in data) {
    const { jobName, deviceId, execState, jobExecutionId, runId } = data
    const reason = reasonOf(data)
    const subject = plainText(`${jobName} on ${deviceId}`)
    const where = `(execution ${jobExecutionId}, run ${runId})`
    return `${head}${paintState(paint, execState, type)}  ${subject}${reason && `: ${reason}`} ${where}`
  }
  if ('scheduleName' in data) return `${head}${type}  ${plainText(scheduleText(data))}`
  if ('runId' in data) {
    const { jobName, runId, total, counts, released, because } = data
    const size = `${total} ${total === 1 ? 'execution' : 'executions'}`
    const progress =
      released === undefined
        ? size
        : `${released} of ${size} released${because ? `: ${plainText(because)}` : ''}`
    const how = counts ? countsText(counts, paint) : progress
    return `${head}${type}  ${plainText(jobName)} #${runId}  ${how}`
  }
  if ('deviceId' in data) {
    const { deviceId, transport } = data
    return `${head}${type}  ${plainText(deviceId)}${transport === undefined ? '' : ` by ${plainText(transport)}`}`
  }
  return `${head}${type}  ${plainText(accessText(data))} by ${plainText(data.principal)}`
}

/** nightly: run 12 of collect-logs, 40 of 42 devices */
function scheduleText(data: ScheduleEventData): string {
  const { scheduleName, jobName, runId, matched = 0, skipped = 0, count, isMore, from, because } = data
  if (count !== undefined) {
    return `${scheduleName}: ${count}${isMore ? ' or more' : ''} from ${localTime(from ?? null)} on: ${because}`
  }
  if (because !== undefined) return `${scheduleName}: ${because}`
  const devices = `${matched - skipped} of ${matched} ${matched === 1 ? 'device' : 'devices'}`
  return `${scheduleName}: ${runId ? `run ${runId} of ${jobName}, ` : ''}${devices}`
}

type AccessData = Exclude<Extract<JobcastEvent['data'], { principal: string }>, ScheduleEventData>

/** What was changed, of an event about access. */
function accessText(data: AccessData): string {
  if ('sessionId' in data) return `${data.sessionId} of key ${data.keyId}`
  if ('keyId' in data) return `${data.keyName} (${data.keyId})`
  if ('enrollmentId' in data)
    return data.name === null ? data.enrollmentId : `${data.name} (${data.enrollmentId})`
  if ('webhookName' in data) return data.change ? `${data.webhookName}: ${data.change}` : data.webhookName
  if ('reason' in data) return data.reason
  return `${data.ownerName} (${data.ownerId})`
}
