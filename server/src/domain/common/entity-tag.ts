// Entity tags of what callers put: two callers that change the same thing notice each other (ETag and If-Match). That of a
// job is its version; others are made of what can be put, so that presence or a paused webhook do not change them.

import { hash } from 'node:crypto'

/** `*`: whatever it is, if it is there. */
export type ExpectedTags = readonly string[] | 'nothing'
/** What a caller expects to be there. */
export type Expectation = { expected?: ExpectedTags }

const tagLength = 22

export function jobTag({ version }: { version: number }): string {
  return String(version)
}

/** `current`: undefined if there is none. */
export function isExpected(expected: ExpectedTags | undefined, current: string | undefined): boolean {
  if (expected === undefined) return true
  if (expected === 'nothing') return current === undefined
  return current !== undefined && (expected.includes('*') || expected.includes(current))
}

export function tagOf(content: unknown[]): string {
  return hash('sha256', JSON.stringify(content), 'base64url').slice(0, tagLength)
}
