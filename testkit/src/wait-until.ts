// For a condition without an event: it is polled until it holds.

import { setTimeout as delay } from 'node:timers/promises'

export type WaitOptions = {
  /** A failsafe, far above what it should take. */
  timeoutMs?: number
  /** Between two checks. A check that costs the server a query wants more than one that compares two numbers. */
  intervalMs?: number
}

/** Gives how many milliseconds it took. */
export async function waitUntil(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  { timeoutMs = 60_000, intervalMs = 5 }: WaitOptions = {},
): Promise<number> {
  const begun = performance.now()
  while (!(await isSo())) {
    if (performance.now() - begun > timeoutMs) {
      throw new Error(`after ${timeoutMs} ms still not: ${typeof what === 'string' ? what : what()}`)
    }
    await delay(intervalMs)
  }
  return Math.round(performance.now() - begun)
}
