// An event as a line of text.

import type { JobcastEvent } from '@jobcast/client'
import { clockTime } from './clock-time.ts'
import { type Paint, paintState } from './colors.ts'
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
  if ('runId' in data) {
    const { jobName, runId, total, counts } = data
    const how = counts ? countsText(counts, paint) : `${total} ${total === 1 ? 'execution' : 'executions'}`
    return `${head}${type}  ${plainText(jobName)} #${runId}  ${how}`
  }
  const { deviceId, transport } = data
  return `${head}${type}  ${plainText(deviceId)}${transport === undefined ? '' : ` by ${plainText(transport)}`}`
}
