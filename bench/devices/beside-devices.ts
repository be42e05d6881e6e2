// Measures whether a trigger takes longer while devices are connected and report.

import { startJobcast } from '../jobcast.ts'
import type { LoadResult } from '../load.ts'
import { type Loader, openLoader } from '../loader.ts'
import { copyStored } from '../stored.ts'
import { formatMs, formatRate, formatRatio, formatTable } from '../table.ts'
import type { Options } from './options.ts'
import { giveWork, medians, type Placed, placeFleets } from './placed.ts'
import { jobcastSender } from './senders.ts'
import type { StoredDevices } from './stored-devices.ts'

const reportsPerSecond = 1000
const mostDevices = 5000
const callers = [1, 64]

/** A server, and the devices that are connected to it. */
type Side = { title: string; port: number; apiKey: string; reporting?: Placed }

export async function besideDevicesSection(stored: StoredDevices, options: Options): Promise<string> {
  const devices = Math.min(options.devices, mostDevices)
  const [alone, visited] = [await startJobcast(copyStored(stored)), await startJobcast(copyStored(stored))]
  const [placed] = await placeFleets([jobcastSender(visited, devices)], stored.devices.slice(0, devices))
  if (placed === undefined) throw new Error('there is no fleet')
  await giveWork(placed)
  const title = `${formatRate(devices)} connected`
  const sides: Side[] = [
    { ...alone, title: 'none connected' },
    { ...visited, title: `${title}, none reports` },
    { ...visited, title: `${title}, ${formatRate(reportsPerSecond)} reports/s in all`, reporting: placed },
  ]
  const loader = openLoader()
  const rows: string[][] = []
  for (const count of callers)
    rows.push(...toRows(count, sides, await measure(loader, sides, count, options)))
  await Promise.all([loader.end(), placed.fleet.end(), alone.end(), visited.end()])
  const head = ['Triggers of 1 device', 'triggers/s', 'p50 ms', 'p99 ms', '**p99 of none connected**']
  return `## Triggers while devices are connected\n\n${formatTable(head, rows)}`
}

async function measure(
  loader: Loader,
  sides: Side[],
  count: number,
  options: Options,
): Promise<LoadResult[]> {
  const results = sides.map((): LoadResult[] => [])
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const result = await measureOnce(loader, side, count, options)
      console.error(`${count} callers, ${side.title}: p99 ${result.p99.toFixed(2)} ms`)
      results[index]?.push(result)
    }
  }
  return results.map(medians)
}

async function measureOnce(loader: Loader, side: Side, count: number, options: Options): Promise<LoadResult> {
  const { port, apiKey, reporting } = side
  const { warmUpMs, measureMs, devices } = options
  const reported = reporting?.fleet.ask('report', {
    devices,
    perSecond: reportsPerSecond,
    warmUpMs,
    measureMs,
    until: 'puback',
  })
  const work = { kind: 'trigger', devices: 1 } as const
  const result = await loader.run({ port, apiKey, work, callers: count, warmUpMs, measureMs })
  await reported
  return result
}

function toRows(count: number, sides: Side[], results: LoadResult[]): string[][] {
  return results.map(({ callsPerSecond, p50, p99 }, index) => [
    `${sides[index]?.title}, ${count} caller${count === 1 ? '' : 's'}`,
    formatRate(callsPerSecond),
    formatMs(p50),
    formatMs(p99),
    `**${formatRatio(p99 / (results[0]?.p99 ?? Number.NaN))}**`,
  ])
}
