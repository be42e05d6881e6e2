// ?wait=: holds an answer until an execution or a run has reached its end.

import { setTimeout as rest } from 'node:timers/promises'
import type { ChangeSignal } from './ports/change-signal.ts'

/** Between two looks of one waiter, so that a thousand changes in a row cost it twenty looks a second. */
const restMs = 50

/** A hint that got lost costs no more than this. */
const lookAgainMs = 5000

/** How long whoever asked is ready to wait. */
export type Patience = { waitMs: number; callerGone: AbortSignal }
export type WaitDeps = { changes: ChangeSignal; stopping: AbortSignal }

/**
 * Reads until `isEnd`, the time is over, or the caller or the service goes; gives the last thing read.
 * The watch is opened before the read, so a change during the read is not missed.
 */
export async function waitForEnd<T extends { runId: number }>(
  deps: WaitDeps,
  read: () => Promise<T>,
  isEnd: (value: T) => boolean,
  { waitMs, callerGone }: Patience,
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
      await watch.nextChange(Math.min(left, lookAgainMs), abort)
      await rest(Math.min(restMs, Math.max(0, until - performance.now())))
    }
  } finally {
    watch.close()
  }
}
