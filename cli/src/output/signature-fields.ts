// The signers of a job, according to its envelope: only devices know which keys to trust.

import type { Job } from '@jobcast/client'
import { SignatureError, signedJobOf } from '@jobcast/contract/signature'

export function signatureFields({ signatures: [envelope] }: Pick<Job, 'signatures'>): Record<string, string> {
  if (envelope === undefined) return {}
  const signers = envelope.signatures.map(({ keyid }) => keyid ?? 'a key without id').join(', ')
  return { 'signed by': signers, ...contentFields(envelope) }
}

function contentFields(envelope: Job['signatures'][number]): Record<string, string> {
  try {
    const { version, notAfter, audience } = signedJobOf(envelope)
    return {
      'signed version': String(version),
      ...(audience !== undefined && { 'signed for': audience }),
      ...(notAfter !== undefined && { 'signed until': notAfter }),
    }
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return { 'signed version': 'unreadable' }
  }
}
