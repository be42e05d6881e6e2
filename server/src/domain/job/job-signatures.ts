// Signatures of the authors of a job. The server has none of their keys: it only detects mistakes before devices do, and
// devices verify the signatures.

import type { JobContent } from '@jobcast/contract'
import { type Envelope, requireSignatures, SignatureError, signedJobOf } from '@jobcast/contract/signature'
import { ApiError } from '@jobcast/contract/words'
import { isNestedTooDeep, maxJsonDepth } from '../common/json-depth.ts'
import type { StoredJobContent } from './ports/jobs.ts'

/** Combines the signatures in one envelope. Throws J-500 if they sign something else than this job. */
export function signaturesOf(jobName: string, content: JobContent, now: number): Envelope | undefined {
  for (const [index, { payload }] of (content.signatures ?? []).entries()) {
    // Checked before parsing, like bodies; the document is nested one level deeper.
    if (isNestedTooDeep(Buffer.from(payload, 'base64'), maxJsonDepth + 1)) {
      const field = `signatures[${index}].payload`
      throw new ApiError('J-500', { field, detail: `${field} is nested deeper than ${maxJsonDepth + 1}.` })
    }
  }
  try {
    return requireSignatures(jobName, content, now)
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    throw new ApiError('J-500', { field: error.field, detail: `${error.message}.` })
  }
}

/** Devices refuse a version with the signature of another one. */
export function maySignedBe({ signatures }: StoredJobContent, version: number): boolean {
  return signatures === undefined || signedJobOf(signatures).version === version
}

/** The content would become version `nextVersion`, but its signatures are for another one. */
export function wrongVersion({ signatures }: StoredJobContent, nextVersion: number): ApiError {
  const field = 'signatures[0].payload.version'
  const signed = signatures && signedJobOf(signatures).version
  const detail = `${field} is ${signed}, but the next version of the job is ${nextVersion}; sign the job again (jobs sign --version ${nextVersion}).`
  return new ApiError('J-500', { field, detail })
}
