// Compares two nodes on one machine with one node: the same callers, half of them at each node.

import type { Timing } from '../contenders.ts'
import { openLoader } from '../loader.ts'
import { median } from '../numbers.ts'
import { formatRate, formatRatio, formatTable } from '../table.ts'
import { type Databases, startNode } from './databases.ts'

const callers = 64

export async function twoNodesSection(
  databases: Databases,
  timing: Timing & { rounds: number },
): Promise<string> {
  const rates = new Map<number, number[]>([
    [1, []],
    [2, []],
  ])
  for (let round = 0; round < timing.rounds; round++) {
    for (const [count, measured] of rates) {
      const rate = await measure(databases, count, timing)
      console.error(`${count} node${count === 1 ? '' : 's'}: ${rate.toFixed(0)} triggers/s`)
      measured.push(rate)
    }
  }
  const [one, two] = [...rates.values()].map(median) as [number, number]
  const rows = [
    ['one node', formatRate(one), ''],
    ['two nodes', formatRate(two), `**${formatRatio(two / one)} ×**`],
  ]
  const table = formatTable(['', 'triggers/s', 'of one node'], rows)
  return `## Two nodes on one machine, ${callers} callers with 1 device\n\n${table}`
}

async function measure(databases: Databases, count: number, timing: Timing): Promise<number> {
  const url = await databases.copy()
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(url)))
  const loads = await Promise.all(
    nodes.map(async ({ port, apiKey }) => {
      const loader = openLoader()
      const work = { kind: 'trigger', devices: 1 } as const
      const result = await loader.run({ port, apiKey, work, callers: callers / count, ...timing })
      await loader.end()
      return result.callsPerSecond
    }),
  )
  await Promise.all(nodes.map((node) => node.end()))
  await databases.drop(url)
  return loads.reduce((sum, rate) => sum + rate, 0)
}
