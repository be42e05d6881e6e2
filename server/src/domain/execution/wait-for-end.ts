// ?wait=: holds the response until an execution or a run has ended.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeSignal } from '../event/ports/change-signal.ts'

/** Delay between two reads, so that a burst of changes costs each waiter twenty reads a second. */
const pollDelayMs = 50

/** Bounds the delay after a lost signal. */
const pollEveryMs = 5000

export type WaitLimit = { waitMs: number; callerGone: AbortSignal }
export type WaitDeps = { changes: ChangeSignal; stopping: AbortSignal }

/**
 * Reads until `isEnd`, the time is over, the caller disconnects or the server stops; returns the last value read.
 * The watch is opened before the read, so a change during the read is not missed.
 */
export async function waitForEnd<T extends { runId: number }>(
  deps: WaitDeps,
  read: () => Promise<T>,
  isEnd: (value: T) => boolean,
  { waitMs, callerGone }: WaitLimit,
): Promise<T> {
  const until = performance.now() + waitMs
  const first = await read()
  if (isEnd(first) || waitMs <= 0) return first

  const abort = AbortSignal.any([callerGone, deps.stopping])
  const watch = deps.changes.openWatch(first.runId)
  try {
    for (;;) {
      const value = await read()
      const left = until - performance.now()
      if (isEnd(value) || left <= 0 || abort.aborted) return value
      await watch.nextChange(Math.min(left, pollEveryMs), abort)
      await sleep(Math.min(pollDelayMs, Math.max(0, until - performance.now())))
    }
  } finally {
    watch.close()
  }
}
