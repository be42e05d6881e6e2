// A seal: the Merkle root of some entries, the hash of the seal before it, and a signature. Seals of one owner are a chain,
// so the last one covers all entries before it.

import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

export type SealBody = {
  /** Seals of an owner are numbered from 1, without gaps. */
  seal: number
  ownerId: string
  at: string
  firstAuditId: number
  lastAuditId: number
  entries: number
  /** Hexadecimal, like `previous`. */
  root: string
  /** The hash of the previous seal; null for the first one. */
  previous: string | null
  /** Identifies the public key. */
  keyId: string
}
export type Seal = SealBody & { signature: string }
/** Stored outside the service: the last seal, and the key that verifies it. */
export type Checkpoint = Seal & { publicKey: string }

const bodyFields = [
  ...(['seal', 'ownerId', 'at', 'firstAuditId', 'lastAuditId', 'entries', 'root', 'previous'] as const),
  'keyId' as const,
]

/** The text that is signed: JSON without white space, the fields in this order. */
export function signedText(seal: SealBody): string {
  return JSON.stringify(Object.fromEntries(bodyFields.map((field) => [field, seal[field]])))
}

export function sealHash(seal: SealBody): string {
  return hash('sha256', signedText(seal), 'hex')
}

/** The raw 32 bytes of an Ed25519 key, in base64url. */
export function publicKeyText(key: KeyObject): string {
  return String(key.export({ format: 'jwk' }).x)
}

export function publicKeyId(publicKey: string): string {
  return hash('sha256', Buffer.from(publicKey, 'base64url'), 'hex').slice(0, 16)
}

export function readPublicKey(publicKey: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
}

export function isSignedBy(key: KeyObject, seal: Seal): boolean {
  return verify(null, Buffer.from(signedText(seal)), key, Buffer.from(seal.signature, 'base64url'))
}

/** Undefined: not a seal. */
export function readSeal(value: unknown): Seal | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const seal = value as Record<keyof Seal, unknown>
  const numbers = [seal.seal, seal.firstAuditId, seal.lastAuditId, seal.entries]
  const texts = [seal.ownerId, seal.at, seal.root, seal.keyId, seal.signature]
  const isSeal =
    numbers.every((each) => Number.isSafeInteger(each) && (each as number) > 0) &&
    texts.every((each) => typeof each === 'string') &&
    (seal.previous === null || typeof seal.previous === 'string')
  return isSeal ? (value as Seal) : undefined
}

/** Undefined: not a checkpoint. */
export function readCheckpoint(value: unknown): Checkpoint | undefined {
  const seal = readSeal(value)
  if (seal === undefined || typeof (seal as Checkpoint).publicKey !== 'string') return undefined
  return seal as Checkpoint
}
