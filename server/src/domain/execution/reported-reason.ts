// Why an attempt was unsuccessful, as reported by its device. Stored in the history, since later attempts replace the details.

import type { ExecState } from '@jobcast/contract/words'
import { type ExecutionEvent, unsuccessfulEnds } from './execution.ts'

const maxLength = 1024

/** The detail `reason`, otherwise all details as `name value`. Null unless the event ended an attempt unsuccessfully. */
export function reasonOf(
  cause: ExecutionEvent | 'retry',
  to: ExecState,
  details: Record<string, string> | undefined,
): string | null {
  if (details === undefined || !(cause === 'retry' || cause === 'not-now' || unsuccessfulEnds.includes(to)))
    return null
  const { reason, ...others } = details
  const text =
    reason ??
    Object.entries(others)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  // Removes what databases cannot store, rather than refusing the report.
  const plain = text
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed()
  return plain === '' ? null : plain
}
