// A timer is limited to 24 days, but a job may take a year.

const longestTimerMs = 2 ** 31 - 1

/** Calls back when performance.now() reaches `at`. The returned function cancels it. */
export function callAt(at: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = () => {
    const left = at - performance.now()
    timer = setTimeout(left > 0 ? wait : callback, Math.min(Math.max(left, 0), longestTimerMs))
  }
  wait()
  return () => clearTimeout(timer)
}
