// Reads what an issuer says about a person from claims of any form.

export type Claims = Readonly<Record<string, unknown>>

/** A subject is at most 255 characters of ASCII (OpenID Connect Core, section 2). */
const maxSubject = 255
const maxGroups = 5000
const maxText = 500

export type Person = {
  readonly subject: string
  readonly name: string
  readonly email: string | null
  readonly groups: readonly string[]
}

/** Undefined: there is no usable subject. */
export function personOf(claims: Claims, groupClaim: string): Person | undefined {
  const { sub: subject } = claims
  if (typeof subject !== 'string' || !isSubject(subject)) return undefined
  const email = textOf(claims.email)
  const name = textOf(claims.name) ?? textOf(claims.preferred_username) ?? email ?? subject
  return { subject, name, email: email ?? null, groups: groupsOf(claims, groupClaim) }
}

export function isSubject(text: string): boolean {
  return text.length <= maxSubject && /^[\x20-\x7e]+$/.test(text)
}

export function hasClaim(claims: Claims, path: string): boolean {
  return claimAt(claims, path) !== undefined
}

/** OpenID Connect: names of claims that are not in the token, with their sources. */
const namesElsewhere = '_claim_names'

/** There are too many groups for the token, and it only says where to read them (Entra does, and needs a Graph token). */
export function isOverage(claims: Claims, path: string): boolean {
  const names = claims[namesElsewhere]
  return typeof names === 'object' && names !== null && Object.hasOwn(names, path)
}

/**
 * A list of strings, or one string, which is one group: it is not split, or a group called "guests admins" would grant the
 * role of admins. Other values in the list are skipped.
 */
function groupsOf(claims: Claims, path: string): string[] {
  const found = claimAt(claims, path)
  const listed: unknown[] = Array.isArray(found) ? found : [found]
  const isGroup = (each: unknown) => typeof each === 'string' && each !== '' && each.length <= maxText
  return [...new Set(listed.slice(0, maxGroups).filter((each): each is string => isGroup(each)))]
}

/** A claim of exactly this name (such as https://example.com/groups), otherwise dots separate nested names. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let found: unknown = claims
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Claims)[name]
  }
  return found
}

/** Removes control characters, because the text is shown, logged and stored. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 200)
  return text === '' ? undefined : text
}
