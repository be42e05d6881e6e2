// Trust rules for programs without a key, such as CI jobs: a token of a trusted issuer is exchanged for 15 minutes of access.

import type { Scope } from '@jobcast/contract'
import type { Restriction } from './restriction.ts'

export type TrustRule = {
  readonly issuer: string
  readonly audience: string
  /** `*` stands for any text within one part between colons. */
  readonly subject: string
  /** Name or id. */
  readonly owner: string
  readonly scopes: readonly Scope[]
  readonly restriction?: Restriction | null
}

export function isSubjectPattern(pattern: string): boolean {
  return /[^*:]/.test(pattern)
}

/** The whole subject must match, part by part. Linear: pieces between stars match greedily at their first occurrence. */
export function matchesSubject(pattern: string, subject: string): boolean {
  const [wanted, parts] = [pattern.split(':'), subject.split(':')]
  return (
    wanted.length === parts.length && wanted.every((part, index) => matchesPart(part, parts[index] ?? ''))
  )
}

function matchesPart(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  if (others.length === 0) return text === pattern
  const last = others.pop() ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  const end = text.length - last.length
  let from = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, from)
    if (found === -1 || found + piece.length > end) return false
    from = found + piece.length
  }
  return true
}
