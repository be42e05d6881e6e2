// Encrypts secrets (AES-256-GCM). The first key encrypts; all of them decrypt, so that a key can be replaced while secrets
// encrypted with the old one still exist.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { SecretBox as Box } from '../domain/access/ports/secret-box.ts'

const ivBytes = 12
const tagBytes = 16

export class SecretBox implements Box {
  readonly #keys: { id: string; key: Buffer }[]

  constructor(keys: readonly Buffer[]) {
    this.#keys = keys.map((key) => ({ id: keyId(key), key }))
  }

  get isOpen(): boolean {
    return this.#keys.length > 0
  }

  encrypt(text: string, owner: number): string {
    const { id, key } = this.#current
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(context(owner))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `1.${id}.${sealed.toString('base64url')}`
  }

  decrypt(text: string, owner: number): string {
    const [format, id, body = ''] = text.split('.')
    const found = this.#keys.find((key) => key.id === id)
    if (format !== '1' || found === undefined) {
      throw new Error(
        `a secret was encrypted with the key ${id}, which is not configured (JOBCAST_SECRETS_KEY)`,
      )
    }
    const sealed = Buffer.from(body, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', found.key, sealed.subarray(0, ivBytes))
    decipher.setAAD(context(owner)).setAuthTag(sealed.subarray(-tagBytes))
    return decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  }

  reencrypt(text: string, owner: number): string | undefined {
    if (text.split('.')[1] === this.#current.id) return undefined
    return this.encrypt(this.decrypt(text, owner), owner)
  }

  fingerprint(text: string): string {
    const [first] = this.#keys
    const digest = first ? createHmac('sha256', first.key) : createHash('sha256')
    return digest.update(text).digest('base64url')
  }

  sign(text: string): string {
    return signature(this.#current.key, text).toString('base64url')
  }

  isSigned(text: string, shown: string): boolean {
    const given = Buffer.from(shown, 'base64url')
    return this.#keys.some(({ key }) => {
      const expected = signature(key, text)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  }

  get #current(): { id: string; key: Buffer } {
    const [first] = this.#keys
    if (first === undefined) throw new Error('no key for secrets is configured (JOBCAST_SECRETS_KEY)')
    return first
  }
}

/** Uses a derived key, so that signatures reveal nothing about encrypted secrets. */
function signature(key: Buffer, text: string): Buffer {
  const own = createHmac('sha256', key).update('jobcast signed urls').digest()
  return createHmac('sha256', own).update(text).digest()
}

/** Reveals nothing about the key. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('jobcast secrets key').update(key).digest('hex').slice(0, 8)
}

function context(owner: number): Buffer {
  return Buffer.from(`jobcast run parameters of owner ${owner}`)
}
