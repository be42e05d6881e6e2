/** `+` and `#` must be whole levels, `#` the last one. */
export function isWellFormed(filter: string): boolean {
  if (filter === '') return false
  const levels = filter.split('/')
  return levels.every((level, i) => {
    if (level === '#') return i === levels.length - 1
    return level === '+' || !(level.includes('+') || level.includes('#'))
  })
}

/** Whether a well-formed filter has wildcards. */
export function isPattern(filter: string): boolean {
  return filter.includes('+') || filter.includes('#')
}

/** `#` also matches the parent level: `a/#` matches `a`. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  for (const [i, want] of wanted.entries()) {
    if (want === '#') return true
    if (i >= levels.length || (want !== '+' && want !== levels[i])) return false
  }
  return wanted.length === levels.length
}
