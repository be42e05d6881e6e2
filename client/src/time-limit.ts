// A signal that is aborted with the caller's, or when there was no sign of life for too long.

import { linkAbort } from './linked-abort.ts'

export type TimeLimit = {
  readonly signal: AbortSignal
  /** The time begins anew. */
  restart(): void
  /** It does not run until it is started again. */
  halt(): void
  /** To be called in any case. */
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
