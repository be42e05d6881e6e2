// Polls a condition without an event until it holds.

import { setTimeout as delay } from 'node:timers/promises'

type WaitOptions = {
  /** A failsafe, far above the expected time. */
  timeoutMs?: number
  /** Time between two checks. Default: a fifth of the time so far, because most checks cost a server a query. */
  intervalMs?: number
}

const [leastMs, mostMs] = [5, 200]

/** Returns how many milliseconds it took. */
export async function waitUntil(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  { timeoutMs = 120_000, intervalMs }: WaitOptions = {},
): Promise<number> {
  const begun = performance.now()
  while (!(await isSo())) {
    const tookMs = performance.now() - begun
    if (tookMs > timeoutMs) {
      throw new Error(`after ${timeoutMs} ms still not: ${typeof what === 'string' ? what : what()}`)
    }
    await delay(intervalMs ?? Math.min(mostMs, Math.max(leastMs, tookMs / 5)))
  }
  return Math.round(performance.now() - begun)
}
