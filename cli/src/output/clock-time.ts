/** 12:03:04, in the time of this machine. */
export function clockTime(at: Date = new Date()): string {
  return at.toTimeString().slice(0, 8)
}
