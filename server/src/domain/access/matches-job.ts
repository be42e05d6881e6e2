// Free of schemas, so that threads of the store can use it.

/** Whether one of these is its name, or with `*` at the end the beginning of its name. */
export function matchesJob(patterns: readonly string[], jobName: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? jobName.startsWith(pattern.slice(0, -1)) : jobName === pattern,
  )
}
