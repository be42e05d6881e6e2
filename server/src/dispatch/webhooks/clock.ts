// The webhook sender's source of time: injected, so that a test can simulate a day.

export type Clock = {
  /** Wall clock: for stored instants. */
  now: () => number
  /** Monotonic milliseconds: for delays. */
  elapsed: () => number
  /** Calls back once. The returned function cancels the timer. */
  after: (ms: number, call: () => void) => () => void
}

export function buildClock(now: () => number, elapsed: () => number): Clock {
  return {
    now,
    elapsed,
    after(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
  }
}
