// A cell of the benchmark as a table: one line per contender, and how many times as fast Jobcast is.

import type { Cell, Contender } from './contenders.ts'
import type { CellResult } from './measure-cells.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from './table.ts'

const head = ['', '**Jobcast is**', 'triggers/s', 'executions/s', 'p50 ms', 'p99 ms', 'spread']

/** `missing`: contenders that could not be measured, and why. */
export function besideSection(
  { cell, of }: CellResult,
  contenders: Contender[],
  missing: [name: string, reason: string][] = [],
): string {
  const jobcast = of('Jobcast')
  const measured = contenders.filter(({ takesKeys }) => takesKeys || !cell.hasKeys)
  const rows = measured.map(({ name }) => {
    const { callsPerSecond, p50, p99, spread } = of(name)
    const ratio = formatRatio(jobcast.callsPerSecond / callsPerSecond)
    const rates = [formatRate(callsPerSecond), formatRate(callsPerSecond * cell.devices)]
    return [name, `**${ratio} ×**`, ...rates, formatMs(p50), formatMs(p99), formatSpread(spread)]
  })
  for (const each of missing) rows.push([...each, '–', '–', '–', '–', '–'])
  return `## ${titleOf(cell)}\n\n${formatTable(head, rows)}`
}

function titleOf({ devices, callers, hasKeys }: Cell): string {
  const keys = hasKeys ? ', each call with a new Idempotency-Key' : ''
  return `Devices a call: ${formatRate(devices)}, callers: ${callers}${keys}`
}
