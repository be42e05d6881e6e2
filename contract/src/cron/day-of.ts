/** Converts a date to days since 1970; undefined: no such day. */
export function dayOf(date: string): number | undefined {
  const at = Date.parse(`${date}T00:00:00Z`)
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
  return isReal ? at / 86_400_000 : undefined
}
