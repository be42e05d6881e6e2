// One timer holds no more than 24 days; a job may take a year.

const longestTimerMs = 2 ** 31 - 1

/** Calls back when performance.now() has reached `at`. Gives what takes it back. */
export function callAt(at: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = () => {
    const left = at - performance.now()
    timer = setTimeout(left > 0 ? wait : callback, Math.min(Math.max(left, 0), longestTimerMs))
  }
  wait()
  return () => clearTimeout(timer)
}
