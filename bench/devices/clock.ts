/** Milliseconds on a clock that all processes of this machine share and that never jumps. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
