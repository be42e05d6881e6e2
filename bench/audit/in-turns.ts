/** Microseconds of CPU time of a trigger, of each turn. */
export type EntryCost = { without: number[]; withEntry: number[] }

/** After one turn each, which is not counted. Every other turn begins with the other one. */
export async function inTurns(
  turns: number,
  without: () => Promise<number>,
  withEntry: () => Promise<number>,
): Promise<EntryCost> {
  const cost: EntryCost = { without: [], withEntry: [] }
  for (let turn = 0; turn <= turns; turn++) {
    const isFirst = turn % 2 === 0
    const early = isFirst ? await without() : await withEntry()
    const late = isFirst ? await withEntry() : await without()
    if (turn === 0) continue
    cost.without.push(isFirst ? early : late)
    cost.withEntry.push(isFirst ? late : early)
  }
  return cost
}
