// What of a value is shown in the audit: nothing that is secret, and not more than a person can compare.

import { hash } from 'node:crypto'

const masked = '********'

/** Names of fields that never hold anything but a secret, its hash or its encrypted form. */
const secretName = /(?:secret|token|hash|password|privatekey|apikey|authorization|sealed)$/i
/** Their keys are names, their values may be credentials. */
const secretMaps = new Set(['headers'])
/** Of a parameter that is a secret (`writeOnly`): what its schema says about values. */
const valueWords = new Set(['default', 'const', 'enum', 'examples'])
/** A longer text is replaced by its hash, which still says whether it is the same. */
const maxBytes = 32 * 1024
const maxDepth = 64

export function maskAudit(value: unknown): unknown {
  if (value === undefined || value === null) return null
  const shown = JSON.stringify(mask(value, 0))
  const bytes = Buffer.byteLength(shown)
  if (bytes > maxBytes) return { bytes, sha256: hash('sha256', shown, 'hex') }
  return JSON.parse(shown)
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
      // Only of our own fields: what owners put is shown as it is.
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
