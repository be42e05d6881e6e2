// Imports no schemas, so that store threads can use it.

/** Whether a pattern equals the name, or ends with `*` and the name begins with the rest. */
export function matchesJob(patterns: readonly string[], jobName: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? jobName.startsWith(pattern.slice(0, -1)) : jobName === pattern,
  )
}
