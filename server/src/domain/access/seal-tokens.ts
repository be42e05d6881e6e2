// Encrypts the issuer's tokens for storage with a session. The key is derived from the session's secret, which only the browser
// holds, so neither the database nor its backups reveal the tokens.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type IssuerTokens = {
  readonly refreshToken: string | null
  /** Identifies the person to the issuer at sign-out. */
  readonly idToken: string | null
}

const ivBytes = 12
const tagBytes = 16
/** More than any issuer sends; larger tokens are not stored. */
const maxBytes = 64 * 1024

/** Null: there is nothing to store. */
export function sealTokens(tokens: IssuerTokens, sessionText: string): string | null {
  const { refreshToken, idToken } = tokens
  if (refreshToken === null && idToken === null) return null
  const plain = JSON.stringify({ refreshToken, idToken })
  if (plain.length > maxBytes)
    return idToken === null ? null : sealTokens({ refreshToken, idToken: null }, sessionText)
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(sessionText), iv)
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

export function openTokens(sealed: string | null, sessionText: string): IssuerTokens {
  if (sealed === null) return { refreshToken: null, idToken: null }
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', keyOf(sessionText), bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
  const { refreshToken, idToken } = JSON.parse(plain.toString('utf8')) as IssuerTokens
  return { refreshToken, idToken }
}

function keyOf(sessionText: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', sessionText, '', 'jobcast session tokens', 32))
}
