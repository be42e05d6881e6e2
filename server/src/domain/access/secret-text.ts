// The format of API keys (jc), device tokens (jd), enrollment tokens (je), sessions (js), sign-in tickets (jt) and
// exchanged tokens (jx):
// <prefix>_<10 id><32 secret><6 checksum>, in base 62.
// The id is public, for look-up and logs. The secret has 190 random bits. The checksum lets secret scanners, and the
// server before any look-up, recognize a mistyped key.

import { hash, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 10
const secretLength = 32
const checksumLength = 6

const prefixes = ['jc', 'jd', 'je', 'js', 'jt', 'jx'] as const
export type SecretPrefix = (typeof prefixes)[number]
export type SecretText = { id: string; text: string }

export function newSecretText(prefix: SecretPrefix): SecretText {
  const id = randomText(idLength)
  const unchecked = `${prefix}_${id}${randomText(secretLength)}`
  return { id, text: unchecked + checksum(unchecked) }
}

/** The id of a well-formed secret, otherwise undefined. */
export function secretId(prefix: SecretPrefix, text: string): string | undefined {
  const start = prefix.length + 1
  if (text.length !== start + idLength + secretLength + checksumLength) return undefined
  if (!text.startsWith(`${prefix}_`)) return undefined
  const unchecked = text.slice(0, -checksumLength)
  if (checksum(unchecked) !== text.slice(-checksumLength)) return undefined
  const id = text.slice(start, start + idLength)
  return /^[0-9A-Za-z]+$/.test(id) ? id : undefined
}

/** Whether the text may contain a secret and should not be logged. */
export function mayHoldSecret(text: string): boolean {
  return prefixes.some((prefix) => text.includes(`${prefix}_`))
}

export function readSecretText(prefix: SecretPrefix, text: string): SecretText | undefined {
  const id = secretId(prefix, text)
  return id === undefined ? undefined : { id, text }
}

/** SHA-256 suffices for high-entropy secrets; a slow hash would only make denial of service easier. */
export function hashSecret(text: string): Uint8Array {
  return hash('sha256', text, 'buffer')
}

const nobody = hashSecret('nobody')

/** Compares in constant time, even if there is nothing to compare with. */
export function secretMatches(
  text: string,
  storedHash: Uint8Array | undefined,
  hashed = hashSecret(text),
): boolean {
  return timingSafeEqual(hashed, storedHash ?? nobody) && storedHash !== undefined
}

export function randomText(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += alphabet[randomInt(alphabet.length)]
  return text
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % alphabet.length] + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}
