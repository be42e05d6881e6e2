// Verifies that enough of the authors that this device trusts have signed an envelope.

import { verify } from 'node:crypto'
import { readEnvelope, readSignedJob, type SignedJob } from '@jobcast/contract/signature'
import { Refused } from '../document/document-fields.ts'
import type { AuthorKey } from './author-key.ts'

/** Returns the signed job. The payload is not read before enough keys match. Throws Refused and SignatureError. */
export function verifyEnvelope(envelope: unknown, keys: readonly AuthorKey[], required: number): SignedJob {
  const { payload, signatures, signed } = readEnvelope(envelope)
  // Counts keys that verify, not signatures or key ids: anyone can write any keyid.
  const signers = keys.filter(({ key }) => signatures.some(({ sig }) => verify(null, signed, key, sig)))
  if (signers.length < required) {
    throw new Refused(
      signers.length === 0
        ? 'it is not signed by a key that this device trusts'
        : `it is signed by ${signers.length} of the keys that this device trusts, but ${required} are required`,
    )
  }
  return readSignedJob(payload)
}
