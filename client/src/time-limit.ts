// A signal that is aborted with the caller's, or after a period without activity.

import { linkAbort } from './linked-abort.ts'

type TimeLimit = {
  readonly signal: AbortSignal
  /** Restarts the timer. */
  restart(): void
  /** Stops the timer until it is restarted. */
  halt(): void
  /** Must always be called. */
  end(): void
}

export function startTimeLimit(ms: number, outer?: AbortSignal): TimeLimit {
  const linked = linkAbort(outer)
  const startTimer = () => setTimeout(() => linked.abort(new Error(`nothing came for ${ms} ms`)), ms)
  let timer = startTimer()
  return {
    signal: linked.signal,
    restart() {
      clearTimeout(timer)
      timer = startTimer()
    },
    halt: () => clearTimeout(timer),
    end() {
      clearTimeout(timer)
      linked.unlink()
    },
  }
}
