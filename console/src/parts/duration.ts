// Durations as text: "90 s", "5 min", "2 h", "3 d", or a number of seconds.

const units = [
  { seconds: 86_400, word: 'd' },
  { seconds: 3600, word: 'h' },
  { seconds: 60, word: 'min' },
  { seconds: 1, word: 's' },
]

/** In seconds; undefined if invalid. Accepts "1 h 30 min". */
export function parseDuration(text: string): number | undefined {
  const written = text.trim().toLowerCase()
  if (/^\d{1,9}$/.test(written)) return Number(written)
  if (!/^(?:\d{1,9}\s*(?:d|days?|h|hours?|m|min|minutes?|s|sec|seconds?)\s*)+$/.test(written))
    return undefined
  let sum = 0
  for (const [, count, unit = ''] of written.matchAll(/(\d+)\s*([a-z]+)/g)) {
    sum += Number(count) * (units.find(({ word }) => word[0] === unit[0])?.seconds ?? 0)
  }
  return sum
}

/** Exact: `parseDuration` returns the same value. */
export function writeDuration(seconds: number): string {
  let rest = seconds
  const parts: string[] = []
  for (const unit of units) {
    const count = Math.floor(rest / unit.seconds)
    if (count > 0) parts.push(`${count} ${unit.word}`)
    rest -= count * unit.seconds
  }
  return parts.join(' ') || '0 s'
}
