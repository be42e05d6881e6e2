// Parses what devices send. As lenient as deployed devices need: numbers and booleans may be strings, missing fields
// have defaults, unknown fields are ignored.

import { isName, type ReportedStatus, reportedStatuses } from '@jobcast/contract'
import { isNestedTooDeep, maxJsonDepth } from '../common/json-depth.ts'
import { DeviceError } from './device-error.ts'
import type { OutputOffset } from './device-report.ts'
import type { StepTimeout } from './execution.ts'
import { longestWaitSeconds, waitOf } from './not-now.ts'

export type StartNextRequest = {
  statusDetails: Record<string, string> | undefined
  stepTimeout: StepTimeout
}

export type DescribeRequest = { attempt: number | undefined; wantsDocument: boolean }

export type UpdateRequest = StartNextRequest & {
  status: ReportedStatus
  /** JSON text. */
  result: string | undefined
  expectedVersion: number | undefined
  attempt: number | undefined
  wantsState: boolean
  wantsDocument: boolean
  clientToken: string | undefined
}

export type OutputRequest = { attempt: number | undefined; offset: OutputOffset; data: Uint8Array }

export type EnrollRequest = { deviceName: string | undefined; claim: string | undefined }

type Fields = Record<string, unknown>

/** Deeper payloads are not parsed at all. Up to this depth, the rejection of a too deep result carries its clientToken. */
const maxParsedDepth = 512

/** An empty payload is an empty request. */
export function parsePayload(payload: Uint8Array): Fields {
  if (payload.length === 0) return {}
  if (payload.length > maxParsedDepth && isNestedTooDeep(payload, maxParsedDepth)) {
    throw invalid(`The payload is nested deeper than ${maxParsedDepth}.`)
  }
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(payload))
  } catch {
    throw new DeviceError('InvalidJson', 'The payload is not JSON in UTF-8.')
  }
  return asFields(value)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function asFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The payload must be a JSON object.')
  }
  return value as Fields
}

const maxClientToken = 256

/** Read first, so that a rejection can carry it. */
export function clientTokenOf(fields: Fields): string | undefined {
  const { clientToken } = fields
  if (clientToken === undefined || clientToken === null) return undefined
  if (typeof clientToken !== 'string' || clientToken.length > maxClientToken) {
    throw invalid(`clientToken must be a string of at most ${maxClientToken} characters.`)
  }
  return clientToken
}

export function parseStartNext(fields: Fields): StartNextRequest {
  return { statusDetails: statusDetailsOf(fields), stepTimeout: stepTimeoutOf(fields) }
}

export function parseDescribe(fields: Fields, documentByDefault: boolean): DescribeRequest {
  return {
    attempt: wholeNumber(fields, 'executionNumber', 1),
    wantsDocument: flag(fields, 'includeJobDocument') ?? documentByDefault,
  }
}

export function parseUpdate(fields: Fields): UpdateRequest {
  const status = fields.status as ReportedStatus
  if (!reportedStatuses.includes(status)) {
    throw invalid(`status must be one of ${reportedStatuses.join(', ')}.`)
  }
  const parsed = parseStartNext(fields)
  if (Number.isNaN(waitOf({ status, statusDetails: parsed.statusDetails }))) {
    throw invalid(`statusDetails.retryAfterSeconds must be an integer from 1 to ${longestWaitSeconds}.`)
  }
  return {
    status,
    ...parsed,
    result: resultOf(fields),
    expectedVersion: wholeNumber(fields, 'expectedVersion', 1),
    attempt: wholeNumber(fields, 'executionNumber', 1),
    wantsState: flag(fields, 'includeJobExecutionState') ?? false,
    wantsDocument: flag(fields, 'includeJobDocument') ?? false,
    clientToken: clientTokenOf(fields),
  }
}

export function parseOutput(fields: Fields): OutputRequest {
  const { data, encoding } = fields
  if (typeof data !== 'string') throw invalid('data must be a string.')
  if (encoding !== undefined && encoding !== 'utf-8' && encoding !== 'base64') {
    throw invalid('encoding must be utf-8 or base64.')
  }
  const offset = wholeNumber(fields, 'offset', 0)
  if (offset === undefined) throw invalid('offset is missing.')
  return {
    attempt: wholeNumber(fields, 'executionNumber', 1),
    offset,
    data: Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8'),
  }
}

const isClaim = (value: string) => /^[\x21-\x7e]{16,128}$/.test(value)

export function parseEnroll(fields: Fields): EnrollRequest {
  return {
    deviceName: text(fields, 'deviceName', isName, 'a string of 1 to 128 characters'),
    claim: text(fields, 'claim', isClaim, 'a string of 16 to 128 visible ASCII characters'),
  }
}

/** A malformed jobId is treated like an unknown one. */
export function parseJobId(jobId: string): number {
  const id = /^[1-9]\d{0,15}$/.test(jobId) ? Number(jobId) : Number.NaN
  if (!Number.isSafeInteger(id)) throw unknownExecution(jobId)
  return id
}

/** A malformed id is not echoed: it may be a token in the wrong field. */
export function unknownExecution(jobId: string | number): DeviceError {
  const which = /^\d{1,16}$/.test(String(jobId)) ? `no execution ${jobId}` : 'no such execution'
  return new DeviceError('ResourceNotFound', `There is ${which} for this thing.`)
}

const maxDetails = 100
const detailName = /^[a-zA-Z0-9:_-]{1,128}$/
const detailValue = /^[^\p{Cc}\p{Cs}]{1,1024}$/u

function statusDetailsOf({ statusDetails }: Fields): Record<string, string> | undefined {
  if (statusDetails === undefined || statusDetails === null) return undefined
  if (typeof statusDetails !== 'object' || Array.isArray(statusDetails)) {
    throw invalid('statusDetails must be an object of strings.')
  }
  // retryAfterSeconds may be sent as a number.
  const { retryAfterSeconds } = statusDetails as Fields
  const details = (
    typeof retryAfterSeconds === 'number'
      ? { ...statusDetails, retryAfterSeconds: String(retryAfterSeconds) }
      : statusDetails
  ) as Record<string, string>
  const names = Object.keys(details)
  if (names.length > maxDetails) throw invalid(`statusDetails has more than ${maxDetails} entries.`)
  for (const name of names) {
    const value: unknown = details[name]
    if (!detailName.test(name)) {
      throw invalid('A name in statusDetails must be 1 to 128 letters, digits, ":", "_" or "-".')
    }
    if (typeof value !== 'string' || !detailValue.test(value)) {
      throw invalid(
        `statusDetails.${name} must be a string of 1 to 1,024 characters without control characters.`,
      )
    }
  }
  return details
}

// A week, as on AWS.
const maxStepMinutes = 10_080

function stepTimeoutOf(fields: Fields): StepTimeout {
  const minutes = wholeNumber(fields, 'stepTimeoutInMinutes', -1)
  if (minutes === undefined) return undefined
  if (minutes === -1) return 'discard'
  if (minutes < 1 || minutes > maxStepMinutes) {
    throw invalid(`stepTimeoutInMinutes must be -1 or from 1 to ${maxStepMinutes}.`)
  }
  return minutes * 60_000
}

const maxResultBytes = 64 * 1024

function resultOf({ result }: Fields): string | undefined {
  if (result === undefined) return undefined
  const text = JSON.stringify(result)
  if (Buffer.byteLength(text) > maxResultBytes) throw invalid('result is larger than 64 KiB.')
  if (isNestedTooDeep(Buffer.from(text))) throw invalid(`result is nested deeper than ${maxJsonDepth}.`)
  return text
}

function wholeNumber(fields: Fields, name: string, least: number): number | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
  if (!Number.isSafeInteger(number) || (number as number) < least) {
    throw invalid(`${name} must be an integer of at least ${least}.`)
  }
  return number as number
}

function text(
  fields: Fields,
  name: string,
  isValid: (value: string) => boolean,
  expected: string,
): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || !isValid(value)) throw invalid(`${name} must be ${expected}.`)
  return value
}

function flag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw invalid(`${name} must be true or false.`)
}

function invalid(message: string): DeviceError {
  return new DeviceError('InvalidRequest', message)
}
