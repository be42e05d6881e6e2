// The budget of a rollout: most released and unfinished executions for each value of an attribute. What is released is one
// number per run, so a rollout is held back at the first device whose value is full.

/** Of the devices that come next: their values; null: without the attribute, or already ended. */
export type BudgetFound = {
  next: (string | null)[]
  /** How many are under way, of the values of those. */
  underWay: { value: string; count: number }[]
  /** The first position that is under way, or else the first that is not released. */
  from: number
}

/** Released up to this position at most; `isCut`: devices after that have not been looked at. */
export type BudgetRoom = { upTo: number; isCut: boolean; from: number }

/** How many of the next devices are looked at. */
export const lookedAhead = 1000

export function roomInBudget(
  max: number,
  { next, underWay, from }: BudgetFound,
  { released, total }: { released: number; total: number },
): BudgetRoom {
  const counts = new Map(underWay.map(({ value, count }) => [value, count]))
  for (const [index, value] of next.entries()) {
    if (value === null) continue
    const count = (counts.get(value) ?? 0) + 1
    if (count > max) return { upTo: released + index, isCut: false, from }
    counts.set(value, count)
  }
  const upTo = released + next.length
  return { upTo, isCut: upTo < total, from }
}
