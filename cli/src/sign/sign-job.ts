// Signs a job: adds a signature to its envelope, or makes a new one if there is none or the job has changed since.

import { sign } from 'node:crypto'
import {
  canonicalJson,
  type Envelope,
  encodeBase64,
  jobPayloadType,
  mergeEnvelopes,
  preAuthEncoding,
  SignatureError,
  type SignedJob,
  signedJobOf,
  signedPayload,
} from '@jobcast/contract/signature'
import { UsageError } from '../errors/usage-error.ts'
import type { SigningKey } from './author-key-file.ts'
import type { FileJob } from './job-file.ts'

type Wish = {
  version: number | undefined
  notAfter: string | undefined
  audience: string | undefined
  /** Reads the job from the service, only if no flag gives the version. Undefined if it does not exist. */
  stored: (jobName: string) => Promise<Stored | undefined>
  /** Called if the service cannot be asked, so that the version in the file is used. */
  warn: (text: string) => void
}

export type Stored = { version: number; signatures: readonly unknown[] }

export type SignedResult = { signed: SignedJob; envelope: Envelope; replaced: number }

export async function signJob(job: FileJob, key: SigningKey, wish: Wish): Promise<SignedResult> {
  try {
    const before = mergeEnvelopes((job.content.signatures ?? []) as unknown[])
    const more = before && (await addedTo(before, job, key, wish))
    if (more) return more
    const version = wish.version ?? nextVersion(await wish.stored(job.jobName))
    const signed = partsOf(job, { ...wish, version })
    return { signed, envelope: envelopeOf(signed, key), replaced: before?.signatures.length ?? 0 }
  } catch (error) {
    if (error instanceof SignatureError) throw new UsageError(`job ${job.jobName}: ${error.message}`)
    throw error
  }
}

/** The job in the envelope, if it is still what should be signed. */
function keptJob(before: Envelope, job: FileJob, wish: Wish): SignedJob | undefined {
  const signed = signedJobOf(before)
  const wanted = partsOf(job, {
    version: wish.version ?? signed.version,
    notAfter: wish.notAfter ?? signed.notAfter,
    audience: wish.audience ?? signed.audience,
  })
  return canonicalJson(wanted) === canonicalJson(signed) ? signed : undefined
}

/** The envelope with one more signature; undefined if it is for other content, or for a version that exists already. */
async function addedTo(before: Envelope, job: FileJob, key: SigningKey, wish: Wish) {
  const signed = keptJob(before, job, wish)
  if (signed === undefined) return undefined
  const envelope = mergeEnvelopes([before, envelopeOf(signed, key)]) as Envelope
  const isOld = wish.version === undefined && (await isBehind(signed, envelope, wish))
  return isOld ? undefined : { signed, envelope, replaced: 0 }
}

/** Whether the service would reject the envelope because that version exists already, with other signatures. */
async function isBehind(signed: SignedJob, envelope: Envelope, { stored, warn }: Wish): Promise<boolean> {
  let found: Stored | undefined
  try {
    found = await stored(signed.jobName)
  } catch (error) {
    // An author may sign where the service cannot be reached.
    const why = (error as Error).message
    warn(
      `Could not determine the next version of job ${signed.jobName} (${why}); keeping version ${signed.version}.`,
    )
    return false
  }
  if (found === undefined || signed.version >= nextVersion(found)) return false
  const there = mergeEnvelopes(found.signatures)
  return there === undefined || canonicalJson(there) !== canonicalJson(envelope)
}

/** The version that the next change of the job will get. */
function nextVersion(stored: Stored | undefined): number {
  return (stored?.version ?? 0) + 1
}

type Chosen = Pick<Wish, 'notAfter' | 'audience'> & { version: number }

function partsOf({ jobName, content }: FileJob, { version, notAfter, audience }: Chosen): SignedJob {
  const { document = {}, parameters } = content as Pick<SignedJob, 'parameters'> & {
    document?: SignedJob['document']
  }
  return {
    jobName,
    version,
    document,
    ...(parameters && { parameters }),
    ...(notAfter !== undefined && { notAfter }),
    ...(audience !== undefined && { audience }),
  }
}

function envelopeOf(job: SignedJob, { keyId, key }: SigningKey): Envelope {
  const payload = signedPayload(job)
  const sig = sign(null, preAuthEncoding(jobPayloadType, payload), key)
  return {
    payloadType: jobPayloadType,
    payload: encodeBase64(payload),
    signatures: [{ keyid: keyId, sig: encodeBase64(sig) }],
  }
}
