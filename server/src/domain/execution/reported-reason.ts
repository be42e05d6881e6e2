// Why an attempt was unsuccessful, as its device reported it. Kept with the history: the next attempt has details of its own.

import type { ExecState } from '@jobcast/contract/words'
import { type ExecutionEvent, unsuccessfulEnds } from './execution.ts'

const maxLength = 1024

/** The detail named `reason`; without one all details, as `name value`. Null for what did not end an attempt without success. */
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
  // What a database could not store is not worth a refused report.
  const plain = text
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed()
  return plain === '' ? null : plain
}
