// Reads the values of an envelope. Errors name the invalid field.

/** An error in an envelope. `field` is a path such as `signatures[0].sig`; empty for the envelope itself. */
export class SignatureError extends Error {
  readonly field: string
  /** Completes "<field> …". */
  readonly problem: string

  constructor(field: string, problem: string) {
    super(`${field || 'the envelope'} ${problem}`)
    this.name = 'SignatureError'
    this.field = field
    this.problem = problem
  }
}

export function asObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new SignatureError(field, field === '' ? 'must be a DSSE envelope' : 'must be an object')
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** Standard or URL-safe, with or without padding: DSSE requires that both are accepted. */
export function decodeBase64(value: unknown, field: string): Uint8Array {
  const text = typeof value === 'string' && base64.test(value) ? value.replaceAll('=', '') : undefined
  if (text === undefined || text.length === 0 || text.length % 4 === 1) {
    throw new SignatureError(field, 'must be base64')
  }
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
}

export function encodeBase64(bytes: Uint8Array): string {
  // Converted in pieces, because the number of arguments of a call is limited.
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}
