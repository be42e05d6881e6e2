export const namedPatterns: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}

/** The fields of a pattern, or of a named pattern. */
export function expandPattern(pattern: string): string[] {
  const trimmed = pattern.trim()
  const written = Object.hasOwn(namedPatterns, trimmed) ? (namedPatterns[trimmed] ?? '') : trimmed
  return written.split(/\s+/)
}
