// The keys of authors: Ed25519, as PEM files that openssl reads and writes too.

import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

/** Limits the work: an envelope has up to ten signatures, and each is tried with each key. */
const maxKeys = 64
const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----[A-Za-z0-9+/=\s]*-----END \1-----/g

export type AuthorKey = { keyId: string; key: KeyObject }

/** SHA-256 of the public key in DER, in hex: what `openssl pkey -pubin -outform DER | sha256sum` prints. */
export function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}

/** The distinct public keys in a text. Throws if there is none, or if there is anything but public keys. */
export function readAuthorKeys(pem: string): AuthorKey[] {
  const blocks = [...pem.matchAll(block)]
  if (blocks.some(([, label]) => label?.endsWith('PRIVATE KEY'))) {
    throw new Error('contains a private key; a device needs only the public keys of authors')
  }
  if (blocks.length === 0) throw new Error('contains no public key (-----BEGIN PUBLIC KEY-----)')
  if (blocks.length > maxKeys) throw new Error(`has more than ${maxKeys} keys in it`)
  const keys = new Map<string, AuthorKey>()
  for (const [text] of blocks) {
    const key = readAuthorKey(text)
    keys.set(key.keyId, key)
  }
  return [...keys.values()]
}

function readAuthorKey(pem: string): AuthorKey {
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch {
    throw new Error('contains a key that cannot be read')
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(`has a key of type ${key.asymmetricKeyType} in it; authors sign with Ed25519`)
  }
  return { keyId: keyIdOf(key), key }
}
