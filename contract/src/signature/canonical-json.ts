// Canonical JSON (RFC 8785): fields in the order of their UTF-16 code units, no spaces,
// strings and numbers as JSON.stringify writes them. Two authors who sign the same job sign the same bytes.

/** Deeper values are refused, because they are untrusted and this function is recursive. */
const maxDepth = 512

/** Throws RangeError if it is nested too deep. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > maxDepth) throw new RangeError(`nested deeper than ${maxDepth}`)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  // JavaScript compares strings by UTF-16 code units.
  fields.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field, depth + 1)}`).join(',')}}`
}
