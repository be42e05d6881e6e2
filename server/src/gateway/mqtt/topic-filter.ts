/** `+` and `#` stand for whole levels, `#` for the last ones only. */
export function isWellFormed(filter: string): boolean {
  if (filter === '') return false
  const levels = filter.split('/')
  return levels.every((level, i) => {
    if (level === '#') return i === levels.length - 1
    return level === '+' || !(level.includes('+') || level.includes('#'))
  })
}

/** `#` also stands for no level at all: `a/#` matches `a`. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  for (const [i, want] of wanted.entries()) {
    if (want === '#') return true
    if (i >= levels.length || (want !== '+' && want !== levels[i])) return false
  }
  return wanted.length === levels.length
}
