// Signs a job: one more signature on the envelope that it has, or a new envelope if it has none or has changed since.

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

export type Wish = {
  version: number | undefined
  notAfter: string | undefined
  /** Asked only if the envelope and the flags do not say. */
  nextVersion: (jobName: string) => Promise<number>
}

export type SignedResult = { signed: SignedJob; envelope: Envelope; replaced: number }

export async function signJob(job: FileJob, key: SigningKey, wish: Wish): Promise<SignedResult> {
  try {
    const before = mergeEnvelopes((job.content.signatures ?? []) as unknown[])
    const kept = before && keptJob(before, job, wish)
    const signed = kept ?? (await newJob(job, wish))
    const envelope = mergeEnvelopes([
      ...(kept && before ? [before] : []),
      envelopeOf(signed, key),
    ]) as Envelope
    return { signed, envelope, replaced: kept ? 0 : (before?.signatures.length ?? 0) }
  } catch (error) {
    if (error instanceof SignatureError) throw new UsageError(`job ${job.jobName}: ${error.message}`)
    throw error
  }
}

/** What the envelope is of, if that is still what is to be signed. */
function keptJob(before: Envelope, job: FileJob, { version, notAfter }: Wish): SignedJob | undefined {
  const signed = signedJobOf(before)
  const wanted = partsOf(job, version ?? signed.version, notAfter ?? signed.notAfter)
  return canonicalJson(wanted) === canonicalJson(signed) ? signed : undefined
}

async function newJob(job: FileJob, { version, notAfter, nextVersion }: Wish): Promise<SignedJob> {
  return partsOf(job, version ?? (await nextVersion(job.jobName)), notAfter)
}

function partsOf({ jobName, content }: FileJob, version: number, notAfter: string | undefined): SignedJob {
  const { document = {}, parameters } = content as Pick<SignedJob, 'parameters'> & {
    document?: SignedJob['document']
  }
  return {
    jobName,
    version,
    document,
    ...(parameters && { parameters }),
    ...(notAfter !== undefined && { notAfter }),
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
