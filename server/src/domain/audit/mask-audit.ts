// Masks values for the audit: no secrets, and no more than a person can compare.

import { hash } from 'node:crypto'

const masked = '********'

/** Names of fields that hold only secrets, their hashes or encrypted forms. */
const secretName = /(?:secret|token|hash|password|privatekey|apikey|authorization|sealed)$/i
/** Maps whose keys are names and whose values may be credentials. */
const secretMaps = new Set(['headers'])
/** Schema keywords that contain values, masked for a secret parameter (`writeOnly`). */
const valueWords = new Set(['default', 'const', 'enum', 'examples'])
/** Longer values are replaced by their hash, which still shows whether they changed. */
const maxBytes = 32 * 1024
const maxDepth = 64

/** As JSON text. */
export function maskAudit(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  const shown = JSON.stringify(mask(value, 0))
  const bytes = Buffer.byteLength(shown)
  return bytes > maxBytes ? JSON.stringify({ bytes, sha256: hash('sha256', shown, 'hex') }) : shown
}

function mask(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return masked
  if (value instanceof Uint8Array) return masked
  if (Array.isArray(value)) return value.map((each) => mask(each, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const isSecret = 'writeOnly' in value && value.writeOnly === true
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (isSecret && valueWords.has(name)) return [name, masked]
      if (field === null || field === undefined) return [name, field]
      // Only in our own fields; content put by owners is shown unchanged.
      if (depth === 0 && isInstant(name, field)) return [name, new Date(field).toISOString()]
      if (secretName.test(name) && typeof field !== 'boolean') return [name, masked]
      const isMap = secretMaps.has(name) && typeof field === 'object'
      return [name, isMap ? maskAll(field) : mask(field, depth + 1)]
    }),
  )
}

function isInstant(name: string, field: unknown): field is number {
  return typeof field === 'number' && (name.endsWith('At') || name === 'until')
}

function maskAll(map: object): object {
  return Object.fromEntries(Object.keys(map).map((name) => [name, masked]))
}
