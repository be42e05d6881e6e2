// Measures whether large calls delay others: times small requests during calls of 10,000 devices.

import type { Timing } from './contenders.ts'
import { fleet } from './fleet.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { openLoader } from './loader.ts'
import { median } from './numbers.ts'
import type { Work } from './requests.ts'
import type { Target } from './server-process.ts'
import { formatMs, formatTable } from './table.ts'

type Case = { title: string; work: Work; largeCallers: number }

const cases: Case[] = [
  { title: '/livez, alone', work: { kind: 'livez' }, largeCallers: 0 },
  { title: '/livez, beside 8 callers with 10,000 devices', work: { kind: 'livez' }, largeCallers: 8 },
  { title: 'trigger 1 device, alone', work: { kind: 'trigger', devices: 1 }, largeCallers: 0 },
  {
    title: 'trigger 1 device, beside 1 caller with 10,000 devices',
    work: { kind: 'trigger', devices: 1 },
    largeCallers: 1,
  },
]

type Side = { name: string; start: () => Promise<Target> }

export async function interferenceTable(sides: Side[], timing: Timing & { rounds: number }): Promise<string> {
  const head = ['1 caller asks', ...sides.flatMap(({ name }) => [`${name} p50 ms`, 'p99 ms'])]
  const rows: string[][] = []
  for (const { title, ...load } of cases) {
    const results = sides.map((): LoadResult[] => [])
    for (let round = 0; round < timing.rounds; round++) {
      for (const [side, { start }] of sides.entries()) {
        results[side]?.push(await timeBeside(load, start, timing))
      }
    }
    const middle = (of: LoadResult[], field: 'p50' | 'p99') => formatMs(median(of.map((one) => one[field])))
    const row = [title, ...results.flatMap((of) => [middle(of, 'p50'), middle(of, 'p99')])]
    console.error(row.join(', '))
    rows.push(row)
  }
  return formatTable(head, rows)
}

/** Two load processes: a single one that reads large responses would time its own work. */
async function timeBeside(
  { work, largeCallers }: Omit<Case, 'title'>,
  start: () => Promise<Target>,
  timing: Timing,
): Promise<LoadResult> {
  const [small, large] = [openLoader(), openLoader()]
  const { end, ...target } = await start()
  const order = (of: Work, callers: number): LoadOrder => ({ ...target, ...timing, work: of, callers })
  const [result] = await Promise.all([
    small.run(order(work, 1)),
    largeCallers > 0 && large.run(order({ kind: 'trigger', devices: fleet.length }, largeCallers)),
  ])
  await Promise.all([small.end(), large.end(), end()])
  return result
}
