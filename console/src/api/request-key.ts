/**
 * An Idempotency-Key, which begins with the time: see the client. crypto.randomUUID is not used, because pages over plain HTTP from
 * another machine do not have it.
 */
export function newRequestKey(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return time + Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
