// Tokens of the issuer are stored with a session, encrypted with a key that is derived from the secret of the session. Only
// its browser holds that: neither the database nor its backups give the tokens away.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type IssuerTokens = {
  readonly refreshToken: string | null
  /** Tells the issuer who signs out. */
  readonly idToken: string | null
}

const ivBytes = 12
const tagBytes = 16
/** More than any issuer sends; larger ones are not kept. */
const maxBytes = 64 * 1024

/** Null: there is nothing to keep. */
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
