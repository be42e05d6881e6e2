// Principals: how events, log lines and `createdBy` name who acts. Imports no schemas, so that store threads can use it.

const keyPrefix = 'key:'

const userPrefix = 'user:'

const enrollmentPrefix = 'enrollment:'

/** A session acts for its key, so it has the same principal. */
export function principalOf({ keyId }: { readonly keyId: string }): string {
  const subject = subjectOf(keyId)
  return subject === undefined ? keyPrefix + keyId : userPrefix + subject
}

/**
 * A person's rights at an owner are stored as a key without a usable secret: only sessions use it. Its id contains the
 * subject, so that references to the key name the person without a look-up. Ids of other keys have no colon.
 */
export function personKeyId(ownerNo: number, subject: string): string {
  return `${userPrefix}${ownerNo}:${subject}`
}

/** Undefined if it is not the key of a person. */
export function subjectOf(keyId: string): string | undefined {
  return keyId.startsWith(userPrefix) ? keyId.slice(keyId.indexOf(':', userPrefix.length) + 1) : undefined
}

export function isPerson(principal: string): boolean {
  return principal.startsWith(userPrefix)
}

/** The key that a principal acts by at this owner. Undefined if it is neither a key nor a person. */
export function keyIdAt(principal: string | null, ownerNo: number): string | undefined {
  return principal?.startsWith(userPrefix)
    ? personKeyId(ownerNo, principal.slice(userPrefix.length))
    : keyIdOf(principal)
}

/** As the history names who acted: `key <keyId>` or `user <subject>`. */
export function shownActor(actor: string): string {
  const subject = actor.startsWith(actorPrefix) ? subjectOf(actor.slice(actorPrefix.length)) : undefined
  return subject === undefined ? actor : `user ${subject}`
}

const actorPrefix = 'key '

/** Undefined if it is not a key. */
export function keyIdOf(principal: string | null): string | undefined {
  return principal?.startsWith(keyPrefix) ? principal.slice(keyPrefix.length) : undefined
}

/** An enrollment creates the tokens of devices. */
export function enrollmentPrincipal(enrollmentId: string): string {
  return enrollmentPrefix + enrollmentId
}

/** Undefined if it is not an enrollment. */
export function enrollmentIdOf(principal: string): string | undefined {
  return principal.startsWith(enrollmentPrefix) ? principal.slice(enrollmentPrefix.length) : undefined
}

/** Who acts on the machine of the service, without a key. */
export const operator = 'operator'
/** Actions of the service itself. */
export const service = 'service'
