// Principals: how events, log lines and `createdBy` name who acts. Free of schemas, so that threads of the store can use it.

const keyPrefix = 'key:'

/** A session acts for its key, so it has the same principal. */
export function principalOf({ keyId }: { readonly keyId: string }): string {
  return keyPrefix + keyId
}

/** Undefined if it is not a key. */
export function keyIdOf(principal: string | null): string | undefined {
  return principal?.startsWith(keyPrefix) ? principal.slice(keyPrefix.length) : undefined
}

/** An enrollment creates the tokens of devices. */
export function enrollmentPrincipal(enrollmentId: string): string {
  return `enrollment:${enrollmentId}`
}

/** Who acts on the machine of the service, without a key. */
export const operator = 'operator'
/** What the service does by itself. */
export const service = 'service'
