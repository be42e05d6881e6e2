// An author who signs jobs, as `jobcast keys author new` and `jobcast jobs sign` do.

import { generateKeyPairSync, sign } from 'node:crypto'
import {
  type Envelope,
  encodeBase64,
  jobPayloadType,
  preAuthEncoding,
  type SignedJob,
  signedPayload,
} from '@jobcast/contract/signature'

type Author = {
  /** For a file of trusted keys. */
  publicPem: string
  privatePem: string
  sign(job: SignedJob): Envelope
  /** Signs any bytes. */
  signBytes(payload: Uint8Array, payloadType?: string): Envelope
}

export function newAuthor(): Author {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const author: Author = {
    publicPem: String(publicKey.export({ type: 'spki', format: 'pem' })),
    privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    sign: (job) => author.signBytes(signedPayload(job)),
    signBytes(payload, payloadType = jobPayloadType) {
      const sig = sign(null, preAuthEncoding(payloadType, payload), privateKey)
      return {
        payloadType: payloadType as typeof jobPayloadType,
        payload: encodeBase64(payload),
        signatures: [{ keyid: 'a hint', sig: encodeBase64(sig) }],
      }
    },
  }
  return author
}
