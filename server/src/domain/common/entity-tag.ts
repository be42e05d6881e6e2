// Entity tags (ETag and If-Match), by which concurrent changes of a resource are detected. The tag of a job is its version;
// other tags are hashes of the fields that can be put, so that presence or a paused webhook do not change them.

import { hash } from 'node:crypto'

/** `*`: any existing resource. */
export type ExpectedTags = readonly string[] | 'nothing'
/** The precondition of a change. */
export type Expectation = { expected?: ExpectedTags }

const tagLength = 22

export function jobTag({ version }: { version: number }): string {
  return String(version)
}

/** `current`: undefined if the resource does not exist. */
export function isExpected(expected: ExpectedTags | undefined, current: string | undefined): boolean {
  if (expected === undefined) return true
  if (expected === 'nothing') return current === undefined
  return current !== undefined && (expected.includes('*') || expected.includes(current))
}

export function tagOf(content: unknown[]): string {
  return hash('sha256', JSON.stringify(content), 'base64url').slice(0, tagLength)
}
