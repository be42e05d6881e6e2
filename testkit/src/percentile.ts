/** A percentile of times in milliseconds, as text. */
export function percentile(times: readonly number[], percent: number): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)
  return `${Math.round((sorted[Math.max(0, at)] ?? Number.NaN) * 10) / 10} ms`
}
