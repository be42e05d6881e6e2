/** 12:03:04, in local time. */
export function clockTime(at: Date = new Date()): string {
  return at.toTimeString().slice(0, 8)
}
