// From what is stored to what a device reads, as JSON text. A document is kept as text and set in as it is:
// over MQTT as the object it says, over HTTP as a string that holds it. Executions are spelled by hand: a fan-out
// does it for each device of a fleet, and JSON.stringify takes three times as long.

import { type JobExecutionState, shownPending, toDeviceStatus } from '@jobcast/contract'
import type { DeviceError } from '../domain/device-error.ts'
import type { WithDocument } from '../domain/report-execution.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/store.ts'

export type DocumentAs = 'object' | 'text'
/** `clock` is the steady one, for the time that is left. */
export type Spelling = { at: number; clock: number; documentAs: DocumentAs }
type Token = string | undefined

export function pendingJson(queue: DeviceQueue, { at }: Spelling, clientToken: Token): string {
  const { inProgress, queued } = summaries(queue)
  const token = clientToken === undefined ? '' : `,"clientToken":${JSON.stringify(clientToken)}`
  return `{"inProgressJobs":[${inProgress}],"queuedJobs":[${queued}],"timestamp":${toSeconds(at)}${token}}`
}

/** The answer to start-next and describe; without an execution when nothing is pending. */
export function executionAnswerJson(
  deviceId: string,
  found: WithDocument | undefined,
  spelling: Spelling,
  clientToken: Token,
): string {
  const rest = { timestamp: toSeconds(spelling.at), clientToken }
  return found === undefined
    ? JSON.stringify(rest)
    : withField(JSON.stringify(rest), 'execution', executionJson(deviceId, found, spelling))
}

export function updateAnswerJson(
  { execution, document }: WithDocument,
  wantsState: boolean,
  { at, documentAs }: Spelling,
  clientToken: Token,
): string {
  const answer = JSON.stringify({
    timestamp: toSeconds(at),
    clientToken,
    executionState: wantsState ? toExecutionState(execution) : undefined,
  })
  return document === undefined
    ? answer
    : withField(answer, 'jobDocument', documentJson(document, documentAs))
}

export function rejectionJson(error: DeviceError, at: number, clientToken: Token): string {
  return JSON.stringify({
    code: error.code,
    message: error.message,
    clientToken,
    timestamp: toSeconds(at),
    executionState: error.execution && toExecutionState(error.execution),
  })
}

export function notifyJson(queue: DeviceQueue, at: number): string {
  const { inProgress, queued } = summaries(queue)
  const comma = inProgress && queued && ','
  const jobs = `${inProgress && `"IN_PROGRESS":[${inProgress}]`}${comma}${queued && `"QUEUED":[${queued}]`}`
  return `{"timestamp":${toSeconds(at)},"jobs":{${jobs}}}`
}

export function notifyNextJson(deviceId: string, next: WithDocument | undefined, spelling: Spelling): string {
  return executionAnswerJson(deviceId, next, spelling, undefined)
}

export function cancelJson(deadlineSeconds: number, at: number): string {
  return JSON.stringify({ timestamp: toSeconds(at), deadlineSeconds })
}

export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}

export function toExecutionState(execution: DeviceExecution): JobExecutionState {
  return {
    status: toDeviceStatus(execution.execState),
    statusDetails: execution.statusDetails,
    versionNumber: execution.versionNumber,
  }
}

function executionJson(
  deviceId: string,
  { execution, document }: WithDocument,
  { clock, documentAs }: Spelling,
): string {
  const { jobExecutionId, execState, statusDetails, versionNumber, attempt, timesOutAt } = execution
  const secondsLeft = timesOutAt === null ? undefined : Math.max(0, Math.ceil((timesOutAt - clock) / 1000))
  return (
    `{"jobId":"${jobExecutionId}","thingName":${JSON.stringify(deviceId)},` +
    `"status":"${toDeviceStatus(execState)}","statusDetails":${JSON.stringify(statusDetails)},` +
    `${timesJson(execution)},"versionNumber":${versionNumber},"executionNumber":${attempt}` +
    (secondsLeft === undefined ? '' : `,"approximateSecondsBeforeTimedOut":${secondsLeft}`) +
    (document === undefined ? '}' : `,"jobDocument":${documentJson(document, documentAs)}}`)
  )
}

/** Both as the inside of a JSON array. */
function summaries({ executions }: DeviceQueue): { inProgress: string; queued: string } {
  let inProgress = ''
  let queued = ''
  for (const execution of executions.slice(0, shownPending)) {
    const json = summaryJson(execution)
    if (execution.execState === 'PENDING') queued += queued ? `,${json}` : json
    else inProgress += inProgress ? `,${json}` : json
  }
  return { inProgress, queued }
}

function summaryJson(execution: DeviceExecution): string {
  const { jobExecutionId, versionNumber, attempt } = execution
  return `{"jobId":"${jobExecutionId}",${timesJson(execution)},"versionNumber":${versionNumber},"executionNumber":${attempt}}`
}

function timesJson({ launchedAt, startedAt, updatedAt }: DeviceExecution): string {
  const started = startedAt === null ? '' : `,"startedAt":${toSeconds(startedAt)}`
  return `"queuedAt":${toSeconds(launchedAt)}${started},"lastUpdatedAt":${toSeconds(updatedAt)}`
}

function documentJson(document: string, documentAs: DocumentAs): string {
  return documentAs === 'object' ? document : JSON.stringify(document)
}

/** One more field at the end of an object that has at least one. */
function withField(object: string, name: string, json: string): string {
  return `${object.slice(0, -1)},"${name}":${json}}`
}
