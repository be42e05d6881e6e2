// What an issuer says about a person, read from claims, which may have any form.

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

/** OpenID Connect: claims that are not in the token, and where they are. */
const namesElsewhere = '_claim_names'

/** The issuer has too many groups to name: it says where they can be read (Entra does, and needs a Graph token for it). */
export function isOverage(claims: Claims, path: string): boolean {
  const names = claims[namesElsewhere]
  return typeof names === 'object' && names !== null && Object.hasOwn(names, path)
}

/**
 * A list of texts, or one text, which is one group: its parts are not, because whoever may name a group could name one
 * "guests admins". Whatever else is in the list is skipped.
 */
function groupsOf(claims: Claims, path: string): string[] {
  const found = claimAt(claims, path)
  const listed: unknown[] = Array.isArray(found) ? found : [found]
  const isGroup = (each: unknown) => typeof each === 'string' && each !== '' && each.length <= maxText
  return [...new Set(listed.slice(0, maxGroups).filter((each): each is string => isGroup(each)))]
}

/** A claim of this name, dots and all (such as https://example.com/groups); else dots go deeper. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let found: unknown = claims
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Claims)[name]
  }
  return found
}

/** Without control characters: it is shown, logged and stored. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 200)
  return text === '' ? undefined : text
}
