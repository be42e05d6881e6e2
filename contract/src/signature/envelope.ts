// DSSE envelopes (Dead Simple Signing Envelope, version 1.0.0), which contain the signed payload and its signatures.

import { asObject, decodeBase64, encodeBase64, SignatureError } from './read-values.ts'

/** Names the encoding and the meaning of the payload; another payload gets another type. */
export const jobPayloadType = 'application/vnd.jobcast.job+json'

export const maxSignatures = 10
/** Fits a document of 64 KiB and parameters of 16 KiB. */
export const maxPayloadBytes = 96 * 1024
export const maxKeyIdLength = 128
const ed25519Bytes = 64

export type EnvelopeSignature = { keyid?: string; sig: string }
export type Envelope = {
  payloadType: typeof jobPayloadType
  payload: string
  signatures: EnvelopeSignature[]
}

export type ReadEnvelope = {
  payload: Uint8Array
  signatures: { keyid?: string; sig: Uint8Array }[]
  /** The signed bytes. */
  signed: Uint8Array
}

/** PAE(type, body) of DSSE: "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body, with lengths in bytes. */
export function preAuthEncoding(type: string, body: Uint8Array): Uint8Array {
  const encoder = new TextEncoder()
  const head = encoder.encode(`DSSEv1 ${encoder.encode(type).length} ${type} ${body.length} `)
  const all = new Uint8Array(head.length + body.length)
  all.set(head)
  all.set(body, head.length)
  return all
}

/** Parses an envelope without verifying its signatures. Throws SignatureError. */
export function readEnvelope(value: unknown): ReadEnvelope {
  const { payloadType, payload: encoded, signatures } = asObject(value, '')
  if (payloadType !== jobPayloadType) {
    throw new SignatureError('payloadType', `must be ${jobPayloadType}`)
  }
  const payload = decodeBase64(encoded, 'payload')
  if (payload.length > maxPayloadBytes) {
    throw new SignatureError('payload', `must have at most ${maxPayloadBytes} bytes`)
  }
  if (!Array.isArray(signatures) || signatures.length === 0 || signatures.length > maxSignatures) {
    throw new SignatureError('signatures', `must be a list of 1 to ${maxSignatures} signatures`)
  }
  return {
    payload,
    signatures: signatures.map((each, index) => readSignature(each, `signatures[${index}]`)),
    signed: preAuthEncoding(payloadType, payload),
  }
}

function readSignature(value: unknown, field: string): ReadEnvelope['signatures'][number] {
  const { keyid, sig: encoded } = asObject(value, field)
  const sig = decodeBase64(encoded, `${field}.sig`)
  if (sig.length !== ed25519Bytes) {
    throw new SignatureError(`${field}.sig`, 'must be an Ed25519 signature: 64 bytes in base64')
  }
  if (keyid === undefined) return { sig }
  if (typeof keyid !== 'string' || keyid.length > maxKeyIdLength) {
    throw new SignatureError(`${field}.keyid`, `must be a string of at most ${maxKeyIdLength} characters`)
  }
  return { keyid, sig }
}

/** Merges envelopes to one in standard base64, without duplicate signatures. Throws SignatureError with the position in the list. */
export function mergeEnvelopes(envelopes: readonly unknown[]): Envelope | undefined {
  const read = envelopes.map((each, index) => within(`[${index}]`, () => readEnvelope(each)))
  const [first] = read
  if (first === undefined) return undefined
  const payload = encodeBase64(first.payload)
  const signatures = new Map<string, EnvelopeSignature>()
  for (const [index, envelope] of read.entries()) {
    if (encodeBase64(envelope.payload) !== payload) {
      throw new SignatureError(`[${index}].payload`, 'must be the same in all envelopes')
    }
    for (const { keyid, sig: bytes } of envelope.signatures) {
      const sig = encodeBase64(bytes)
      signatures.set(sig, { ...(keyid !== undefined && { keyid }), sig })
    }
  }
  if (signatures.size > maxSignatures) {
    throw new SignatureError('', `must have at most ${maxSignatures} signatures in all`)
  }
  return { payloadType: jobPayloadType, payload, signatures: [...signatures.values()] }
}

/** Adds a prefix to the field of a SignatureError. */
export function within<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    const { field, problem } = error
    throw new SignatureError(`${place}${field === '' || field.startsWith('[') ? '' : '.'}${field}`, problem)
  }
}
