/** Milliseconds on a clock that all processes of this machine share and that never jumps. */
export function nowMs(): number {
  return performance.now() + sinceBoot
}

const sinceBoot = Number(process.hrtime.bigint()) / 1e6 - performance.now()
