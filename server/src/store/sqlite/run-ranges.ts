// The executions of some runs as sorted, disjoint ranges of ids. Stored by run and not by execution, because a run may have a
// million of them.

/** `to` is exclusive. */
export type RunRange = { runId: number; from: number; to: number }

/** The range that contains the execution; undefined: none. */
export function rangeOf<Range extends RunRange>(ranges: readonly Range[], id: number): Range | undefined {
  const range = ranges[positionOf(ranges, id + 1) - 1]
  return range !== undefined && id < range.to ? range : undefined
}

export function addRange<Range extends RunRange>(ranges: Range[], range: Range): void {
  ranges.splice(positionOf(ranges, range.from), 0, range)
}

/** The number of ranges that begin below the id. */
function positionOf(ranges: readonly RunRange[], id: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[middle] as RunRange).from < id) low = middle + 1
    else high = middle
  }
  return low
}
