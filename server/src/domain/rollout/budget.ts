// The budget of a rollout: the maximum of released, unfinished executions per value of an attribute. What is released is
// one number per run, so the rollout stops at the first device whose value has reached the maximum.

/** `next`: values of the next devices; null: the device lacks the attribute, or its execution has ended. */
export type BudgetFound = {
  next: (string | null)[]
  /** Executions in progress for each of those values. */
  unfinished: { value: string; count: number }[]
  /** The first position in progress, otherwise the first that is not released. */
  from: number
}

/** `upTo`: the last position that may be released. `isCut`: later devices have not been checked yet. */
export type BudgetRoom = { upTo: number; isCut: boolean; from: number }

/** How many of the next devices are checked at once. */
export const lookedAhead = 1000

export function roomInBudget(
  max: number,
  { next, unfinished, from }: BudgetFound,
  { released, total }: { released: number; total: number },
): BudgetRoom {
  const counts = new Map(unfinished.map(({ value, count }) => [value, count]))
  for (const [index, value] of next.entries()) {
    if (value === null) continue
    const count = (counts.get(value) ?? 0) + 1
    if (count > max) return { upTo: released + index, isCut: false, from }
    counts.set(value, count)
  }
  const upTo = released + next.length
  return { upTo, isCut: upTo < total, from }
}
