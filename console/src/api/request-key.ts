/** An Idempotency-Key. Not crypto.randomUUID, which a page by plain HTTP from another machine does not have. */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
