// Natural sort order: sim-2 before sim-10.

/** Numbers with leading zeros sort by value. A collator has the same result, but takes ten times as long. */
function keyOf(name: string): string {
  return name.replace(/\d+/g, (digits) => digits.padStart(12, '0'))
}

export function naturally<T>(rows: readonly T[], nameOf: (row: T) => string): T[] {
  return rows
    .map((row) => ({ row, key: keyOf(nameOf(row)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row)
}
