// The signed payload of a job: its name, its version, the document with its placeholders, the schema of its parameters,
// until when it may be started, and its audience. It is stored in an envelope as canonical JSON.

import { canonicalJson } from './canonical-json.ts'
import { type Envelope, mergeEnvelopes, readEnvelope, within } from './envelope.ts'
import { asObject, decodeBase64, SignatureError } from './read-values.ts'

type Json = Record<string, unknown>

export type SignedJob = {
  jobName: string
  version: number
  document: Json
  /** The JSON Schema of the parameters, if the job has any. */
  parameters?: Json
  /** UTC in whole seconds, so that text comparison gives the order of the instants. */
  notAfter?: string
  /** The audience, such as a service or an owner: devices of another audience refuse the job. */
  audience?: string
}

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const fields = ['jobName', 'version', 'document', 'parameters', 'notAfter', 'audience']
const maxAudienceLength = 128

/** Completes "audience …"; undefined if valid. */
export function audienceProblem(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxAudienceLength
  return isText && !/[\p{Cc}\p{Cs}]/u.test(value)
    ? undefined
    : `must be a string of 1 to ${maxAudienceLength} characters without control characters`
}

/** Throws SignatureError if no device would accept it. */
export function signedPayload(job: SignedJob): Uint8Array {
  const payload = new TextEncoder().encode(canonicalJson(job))
  readSignedJob(payload)
  return payload
}

/** Throws SignatureError. Call it only with bytes whose signatures are verified, or to check for mistakes. */
export function readSignedJob(payload: Uint8Array): SignedJob {
  const job = asObject(parse(payload), 'payload')
  const wrong = (name: string, problem: string) => new SignatureError(`payload.${name}`, problem)
  const unknown = Object.keys(job).find((name) => !fields.includes(name))
  if (unknown !== undefined) throw wrong(unknown, `is unknown; known are ${fields.join(', ')}`)
  const { jobName, version, notAfter } = job
  if (typeof jobName !== 'string' || jobName === '') throw wrong('jobName', 'must be the name of a job')
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw wrong('version', 'must be an integer of at least 1')
  }
  asObject(job.document, 'payload.document')
  if (job.parameters !== undefined) asObject(job.parameters, 'payload.parameters')
  if (notAfter !== undefined && !isInstant(notAfter)) {
    throw wrong('notAfter', 'must be an instant in UTC and whole seconds such as 2027-01-31T00:00:00Z')
  }
  const problem = job.audience === undefined ? undefined : audienceProblem(job.audience)
  if (problem !== undefined) throw wrong('audience', problem)
  return job as SignedJob
}

function parse(payload: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload)
    const value: unknown = JSON.parse(text)
    if (canonicalJson(value) === text) return value
  } catch {
    // Reported below, like a wrong order of the fields.
  }
  throw new SignatureError('payload', 'must be a signed job in canonical JSON (RFC 8785)')
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && instantForm.test(value) && !Number.isNaN(Date.parse(value))
}

/** `now` in milliseconds. */
export function isExpired({ notAfter }: SignedJob, now: number): boolean {
  return notAfter !== undefined && Date.parse(notAfter) < now
}

/** The job in an envelope. Throws SignatureError. */
export function signedJobOf(envelope: Envelope): SignedJob {
  return readSignedJob(decodeBase64(envelope.payload, 'payload'))
}

export type SignedContent = { document?: Json; parameters?: Json; signatures?: readonly unknown[] }

/**
 * The signatures of a job as one envelope; undefined if it has none. Throws SignatureError if they sign something else than
 * this job. This detects mistakes; verifying a signature requires the keys of the authors.
 */
export function requireSignatures(
  jobName: string,
  content: SignedContent,
  now: number,
): Envelope | undefined {
  return within('signatures', () => {
    const envelope = mergeEnvelopes(content.signatures ?? [])
    if (envelope === undefined) return undefined
    within('[0]', () => checkContent(readSignedJob(readEnvelope(envelope).payload), jobName, content, now))
    return envelope
  })
}

function checkContent(signed: SignedJob, jobName: string, content: SignedContent, now: number): void {
  const wrong = (name: string, problem: string) => new SignatureError(`payload.${name}`, problem)
  if (signed.jobName !== jobName)
    throw wrong('jobName', `is of another job; sign it as ${JSON.stringify(jobName)}`)
  if (canonicalJson(signed.document) !== canonicalJson(content.document ?? {})) {
    throw wrong('document', 'differs from the document of the job; sign the job again')
  }
  if (canonicalJson(signed.parameters ?? null) !== canonicalJson(content.parameters ?? null)) {
    throw wrong('parameters', 'differ from the parameters of the job; sign the job again')
  }
  if (isExpired(signed, now)) throw wrong('notAfter', `has passed (${signed.notAfter}); sign the job again`)
}
