// Measures every contender in every cell. Within a round they take turns, so that noise affects all alike.

import type { Cell, Contender, Measured, Timing } from './contenders.ts'
import { median } from './numbers.ts'

/** Medians of the rounds; of a contender that was left out, NaN. */
type Summary = Measured & {
  /** Difference between the slowest and the fastest round, relative to the median; NaN with a single round. */
  spread: number
}
export type CellResult = { cell: Cell; of(contender: string): Summary }

export async function measureCells(
  cells: Cell[],
  contenders: Contender[],
  { rounds, ...timing }: Timing & { rounds: number },
): Promise<CellResult[]> {
  const results: CellResult[] = []
  for (const cell of cells) {
    const measured = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]))
    for (let round = 1; round <= rounds; round++) {
      for (const { name, takesKeys, measure } of contenders) {
        if (cell.hasKeys && !takesKeys) continue
        const result = await measure(cell, timing)
        measured.get(name)?.push(result)
        tellProgress(cell, name, result)
      }
    }
    results.push({ cell, of: (name) => summarize(measured.get(name) ?? []) })
  }
  return results
}

function summarize(rounds: Measured[]): Summary {
  const middle = (field: 'p50' | 'p99' | 'cores') => median(rounds.map((round) => round[field] ?? Number.NaN))
  const rates = rounds.map((round) => round.callsPerSecond)
  const callsPerSecond = median(rates)
  return {
    callsPerSecond,
    p50: middle('p50'),
    p99: middle('p99'),
    cores: middle('cores'),
    spread: rates.length > 1 ? (Math.max(...rates) - Math.min(...rates)) / callsPerSecond : Number.NaN,
  }
}

function tellProgress(
  { devices, callers, hasKeys }: Cell,
  name: string,
  { callsPerSecond, p99 }: Measured,
): void {
  const slowest = p99 === undefined ? '' : `, p99 ${p99.toFixed(2)} ms`
  console.error(
    `${devices} devices, ${callers} callers${hasKeys ? ' with keys' : ''}, ${name}: ${callsPerSecond.toFixed(1)} calls/s${slowest}`,
  )
}
