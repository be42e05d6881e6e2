// The table of the benchmark: one line per cell, Jobcast next to its limits.

import type { CellResult } from './measure-cells.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from './table.ts'

/** Names of the contenders; `empty` is Jobcast on the empty database, if that is a separate one. */
type Columns = { jobcast: string; limits: { name: string; contender: string }[]; empty?: string }

export function triggerTable(results: CellResult[], columns: Columns): string {
  const { empty } = columns
  const head = [
    ...['devices', 'callers', 'triggers/s', 'executions/s', 'p50 ms', 'p99 ms', 'spread'],
    ...(empty === undefined ? [] : ['of empty']),
    ...columns.limits.flatMap(({ name }) => [`${name} /s`, '**of it**']),
  ]
  const rows = results.map(({ cell, of }) => {
    const jobcast = of(columns.jobcast)
    const rateOf = (name: string) => formatRate(of(name).callsPerSecond)
    const partOf = (name: string) => formatRatio(jobcast.callsPerSecond / of(name).callsPerSecond)
    return [
      formatRate(cell.devices),
      cell.hasKeys ? `${cell.callers}, new keys` : String(cell.callers),
      rateOf(columns.jobcast),
      formatRate(jobcast.callsPerSecond * cell.devices),
      formatMs(jobcast.p50),
      formatMs(jobcast.p99),
      formatSpread(jobcast.spread),
      ...(empty === undefined ? [] : [partOf(empty)]),
      ...columns.limits.flatMap(({ contender }) => [rateOf(contender), `**${partOf(contender)}**`]),
    ]
  })
  return formatTable(head, rows)
}
