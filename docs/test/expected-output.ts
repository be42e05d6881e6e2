// Compares the output on a page with the actual output. White space is ignored, `…` matches anything, and times, durations and
// secrets always differ. Progress lines of a wait are left out: how many there are depends on the machine.

// biome-ignore format: a line each
const neverTheSame: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?/g, '<instant>'],
  [/\b\d+:\d\d(?::\d\d)?\b(?!\])/g, '<time>'],
  [/\b\d+(?:\.\d+)? m?s\b/g, '<duration>'],
  [/\b(j[cde]|whsec)_(?:[\w+/=-]+…?|…)/g, '$1_<secret>'],
]

/** restart #12  6/10  5 SUCCEEDED 1 IN_PROGRESS 4 PENDING  0:12 */
const progressLine = /^\S+ #\d+ {2}\d+\/\d+ {2}.* {2}\d+:\d\d$/gm

export function looksLike(expected: string, printed: string, { isWhole = true } = {}): boolean {
  const parts = alike(expected).split('…').map(escaped)
  return new RegExp(`^${parts.join('[\\s\\S]*?')}${isWhole ? '$' : ''}`).test(
    alike(printed.replace(progressLine, '')),
  )
}

/** The same for JSON, however it is laid out. */
export function isSameJson(expected: unknown, printed: unknown): boolean {
  if (typeof expected === 'string' && typeof printed === 'string') return looksLike(expected, printed)
  if (!isObject(expected) || !isObject(printed)) return expected === printed
  const keys = Object.keys(expected)
  return (
    Array.isArray(expected) === Array.isArray(printed) &&
    keys.length === Object.keys(printed).length &&
    keys.every((key) => isSameJson(expected[key], printed[key]))
  )
}

function alike(text: string): string {
  let plain = text
  for (const [pattern, instead] of neverTheSame) plain = plain.replace(pattern, instead)
  return plain.replace(/\s+/g, '')
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
