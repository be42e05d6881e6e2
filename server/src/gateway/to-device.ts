// Stored records -> JSON text for devices. A document is stored as text and inserted unchanged: as an object over MQTT, as
// a string over HTTP. Executions are encoded by hand: a fan-out does it for every device, and JSON.stringify takes three
// times as long.

import { type JobExecutionState, shownPending, toDeviceStatus } from '@jobcast/contract'
import type { BothClocks } from '../domain/common/instants.ts'
import type { DeviceError } from '../domain/execution/device-error.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/execution/device-report.ts'
import type { DeviceDocument } from '../domain/execution/ports/documents.ts'
import type { WithDocument } from '../domain/execution/report-execution.ts'

export type DocumentAs = 'object' | 'text'
/** `clock` is the steady clock, for the remaining time. */
export type AnswerFormat = BothClocks & { documentAs: DocumentAs }
type Token = string | undefined

export function pendingJson(queue: DeviceQueue, { at }: AnswerFormat, clientToken: Token): string {
  const { inProgress, queued } = summaries(queue)
  const rest = `"timestamp":${toSeconds(at)}${tokenJson(clientToken)}`
  return `{"inProgressJobs":[${inProgress}],"queuedJobs":[${queued}],${rest}}`
}

/** The answer to start-next and describe; without an execution when nothing is pending. */
export function executionAnswerJson(
  deviceId: string,
  found: WithDocument | undefined,
  format: AnswerFormat,
  clientToken: Token,
): string {
  const rest = `"timestamp":${toSeconds(format.at)}${tokenJson(clientToken)}`
  return found === undefined ? `{${rest}}` : `{${rest},"execution":${executionJson(deviceId, found, format)}}`
}

export function updateAnswerJson(
  updated: WithDocument | undefined,
  wantsState: boolean,
  { at, documentAs }: AnswerFormat,
  clientToken: Token,
): string {
  const { execution, document } = updated ?? {}
  const state =
    wantsState && execution ? `,"executionState":${JSON.stringify(toExecutionState(execution))}` : ''
  const answer = `{"timestamp":${toSeconds(at)}${tokenJson(clientToken)}${state}}`
  if (document === undefined) return answer
  return `${answer.slice(0, -1)}${documentFields(document, documentAs)}}`
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

export function notifyNextJson(
  deviceId: string,
  next: WithDocument | undefined,
  format: AnswerFormat,
): string {
  return executionAnswerJson(deviceId, next, format, undefined)
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

function executionJson(deviceId: string, found: WithDocument, format: AnswerFormat): string {
  const { jobExecutionId } = found.execution
  const { traceParent } = found.execution
  const trace = traceParent === undefined ? '' : `"traceparent":"${traceParent}",`
  return `{"jobId":"${jobExecutionId}","thingName":${nameJson(deviceId)},${trace}${stateJson(found, format)}`
}

/** A device id may contain only these two of the characters that must be escaped in JSON. */
function nameJson(deviceId: string): string {
  return deviceId.includes('"') || deviceId.includes('\\') ? JSON.stringify(deviceId) : `"${deviceId}"`
}

type Launched = {
  launchedAt: number
  document: DeviceDocument | undefined
  documentAs: DocumentAs
  json: string
}
let lastLaunched: Launched | undefined

/**
 * An execution without its two names. Until its first change it is the same for all devices of a run, so the last one
 * is cached.
 */
function stateJson({ execution, document }: WithDocument, format: AnswerFormat): string {
  const { launchedAt, updatedAt, versionNumber, timesOutAt } = execution
  const { documentAs } = format
  const isChanged = versionNumber > 1 || updatedAt !== launchedAt || timesOutAt !== null
  if (isChanged) return encodeState(execution, document, format)
  const isCached =
    lastLaunched?.launchedAt === launchedAt &&
    lastLaunched.document === document &&
    lastLaunched.documentAs === documentAs
  if (lastLaunched === undefined || !isCached) {
    // Flattened through a buffer: otherwise every use would concatenate it again.
    const json = Buffer.from(encodeState(execution, document, format)).toString()
    lastLaunched = { launchedAt, document, documentAs, json }
  }
  return lastLaunched.json
}

function encodeState(
  execution: DeviceExecution,
  document: DeviceDocument | undefined,
  { clock, documentAs }: AnswerFormat,
): string {
  const { execState, statusDetails, versionNumber, attempt, timesOutAt } = execution
  const secondsLeft = timesOutAt === null ? undefined : Math.max(0, Math.ceil((timesOutAt - clock) / 1000))
  return (
    `"status":"${toDeviceStatus(execState)}","statusDetails":${JSON.stringify(statusDetails)},` +
    `${timesJson(execution)},"versionNumber":${versionNumber},"executionNumber":${attempt}` +
    (secondsLeft === undefined ? '' : `,"approximateSecondsBeforeTimedOut":${secondsLeft}`) +
    (document === undefined ? '}' : `${documentFields(document, documentAs)}}`)
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

/** Parameters, secrets and files are sent beside the document, for handlers and for agents that fill in placeholders. */
function documentFields(document: DeviceDocument, documentAs: DocumentAs): string {
  const { json, parameters, secrets, files, signed = '' } = document
  return (
    `,"jobDocument":${documentJson(json, documentAs)}${signed}` +
    (parameters === undefined ? '' : `,"parameters":${parameters}`) +
    (secrets === undefined ? '' : `,"secrets":${secrets}`) +
    (files === undefined ? '' : `,"files":${files}`)
  )
}

function documentJson(document: string, documentAs: DocumentAs): string {
  return documentAs === 'object' ? document : JSON.stringify(document)
}
