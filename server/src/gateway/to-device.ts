// From what is stored to what a device reads, as JSON text. A document is kept as text and set in as it is:
// over MQTT as the object it says, over HTTP as a string that holds it. Executions are spelled by hand: a fan-out
// does it for each device of a fleet, and JSON.stringify takes three times as long.

import { type JobExecutionState, shownPending, toDeviceStatus } from '@jobcast/contract'
import type { DeviceError } from '../domain/device-error.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/device-report.ts'
import type { BothClocks } from '../domain/instants.ts'
import type { WithDocument } from '../domain/report-execution.ts'

export type DocumentAs = 'object' | 'text'
/** Both clocks: the steady one says how much time is left. */
export type Spelling = BothClocks & { documentAs: DocumentAs }
type Token = string | undefined

export function pendingJson(queue: DeviceQueue, { at }: Spelling, clientToken: Token): string {
  const { inProgress, queued } = summaries(queue)
  const rest = `"timestamp":${toSeconds(at)}${tokenJson(clientToken)}`
  return `{"inProgressJobs":[${inProgress}],"queuedJobs":[${queued}],${rest}}`
}

/** The answer to start-next and describe; without an execution when nothing is pending. */
export function executionAnswerJson(
  deviceId: string,
  found: WithDocument | undefined,
  spelling: Spelling,
  clientToken: Token,
): string {
  const rest = `"timestamp":${toSeconds(spelling.at)}${tokenJson(clientToken)}`
  return found === undefined
    ? `{${rest}}`
    : `{${rest},"execution":${executionJson(deviceId, found, spelling)}}`
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

function executionJson(deviceId: string, found: WithDocument, spelling: Spelling): string {
  const { jobExecutionId } = found.execution
  return `{"jobId":"${jobExecutionId}","thingName":${JSON.stringify(deviceId)},${stateJson(found, spelling)}`
}

type Launched = { launchedAt: number; document: string | undefined; documentAs: DocumentAs; json: string }
let lastLaunched: Launched | undefined

/**
 * All of an execution but the two names. Until it is touched for the first time it is the same for all devices of a
 * run, so the last one is kept.
 */
function stateJson({ execution, document }: WithDocument, spelling: Spelling): string {
  const { launchedAt, updatedAt, versionNumber, timesOutAt } = execution
  const { documentAs } = spelling
  const isTouched = versionNumber > 1 || updatedAt !== launchedAt || timesOutAt !== null
  if (isTouched) return spellState(execution, document, spelling)
  const isKept =
    lastLaunched?.launchedAt === launchedAt &&
    lastLaunched.document === document &&
    lastLaunched.documentAs === documentAs
  if (lastLaunched === undefined || !isKept) {
    // Through bytes, so that it is in one piece: else every use would put it together again.
    const json = Buffer.from(spellState(execution, document, spelling)).toString()
    lastLaunched = { launchedAt, document, documentAs, json }
  }
  return lastLaunched.json
}

function spellState(
  execution: DeviceExecution,
  document: string | undefined,
  { clock, documentAs }: Spelling,
): string {
  const { execState, statusDetails, versionNumber, attempt, timesOutAt } = execution
  const secondsLeft = timesOutAt === null ? undefined : Math.max(0, Math.ceil((timesOutAt - clock) / 1000))
  return (
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

function tokenJson(clientToken: Token): string {
  return clientToken === undefined ? '' : `,"clientToken":${JSON.stringify(clientToken)}`
}

function documentJson(document: string, documentAs: DocumentAs): string {
  return documentAs === 'object' ? document : JSON.stringify(document)
}

/** One more field at the end of an object that has at least one. */
function withField(object: string, name: string, json: string): string {
  return `${object.slice(0, -1)},"${name}":${json}}`
}
