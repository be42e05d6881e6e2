// Detects that the session has ended on the server, which any request may report.

import { isJobcastError } from '@jobcast/client'

/** The session or its key is no longer valid, as opposed to a missing scope. */
export function isRefusal(error: unknown): boolean {
  return isJobcastError(error, 'J-802', 'J-803', 'J-808')
}

let listener: () => void = () => undefined

export function onRefusal(call: () => void): void {
  listener = call
}

/** Must be called for errors of all requests. */
export function noteRefusal(error: unknown): void {
  if (isRefusal(error)) listener()
}
