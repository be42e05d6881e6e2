// Finds the nearest valid name for a misspelled one.

export function nearestTo(name: string, names: readonly string[]): string {
  const [nearest = ''] = names.toSorted((one, other) => distance(name, one) - distance(name, other))
  return nearest
}

/** The Levenshtein distance: the number of insertions, deletions and replacements. Only the beginning of long names is compared. */
function distance(name: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...name.slice(0, 64)].entries()) {
    const next = [line + 1]
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
