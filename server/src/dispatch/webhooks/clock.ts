// Time as the sender of webhooks sees it: handed in, so that a test can let a day pass in no time.

export type Clock = {
  /** On the wall: for what is written down. */
  now: () => number
  /** Milliseconds that never jump: for how long to wait. */
  elapsed: () => number
  /** Calls back once, unless it is called off by what it gives. */
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
