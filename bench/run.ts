// npm run bench: Jobcast beside its limits, all measured in this run.

import {
  type Cell,
  overHttp,
  rawInsert,
  startBareHttp,
  startNothingStored,
  startOnCopy,
} from './contenders.ts'
import { interferenceTable } from './interference.ts'
import { measureSync } from './limits/sync-latency.ts'
import { openLoader } from './loader.ts'
import { type CellResult, measureCells } from './measure-cells.ts'
import { readOptions } from './options.ts'
import { publish } from './report.ts'
import { measureRestart } from './restart.ts'
import { buildStored, type Stored } from './stored.ts'
import { formatMs, formatRate } from './table.ts'
import { triggerTable } from './trigger-table.ts'

const cells: Cell[] = [1, 10, 100, 1000, 10_000].flatMap((devices) => [
  { devices, callers: 1 },
  { devices, callers: devices === 10_000 ? 8 : 64 },
])
const options = readOptions(process.argv.slice(2), cells)

const loader = openLoader()
const levels: Stored[] = []
for (const executions of options.preload > 0 ? [0, options.preload] : [0]) {
  console.error(`making a database with ${executions} executions`)
  levels.push(await buildStored(executions))
}
const jobcastOn = ({ executions }: Stored) => `Jobcast at ${executions}`
const rawInto = ({ executions }: Stored) => `raw insert at ${executions}`

const results = await measureCells(
  options.cells,
  [
    ...levels.map((stored) => overHttp(jobcastOn(stored), loader, () => startOnCopy(stored))),
    overHttp('nothing stored', loader, startNothingStored),
    overHttp('bare HTTP', loader, startBareHttp),
    ...levels.map((stored) => rawInsert(rawInto(stored), stored)),
  ],
  options,
)
const sections = levels.map((stored) => tableSection(results, stored))
sections.push(limitsSection(results))
for (const stored of levels) sections.push(await interferenceSection(stored))
for (const stored of levels) sections.push(await restartSection(stored))
publish('Triggers', sections, options)
process.exit()

function tableSection(measured: CellResult[], stored: Stored): string {
  const [empty] = levels
  const table = triggerTable(measured, {
    jobcast: jobcastOn(stored),
    nothingStored: 'nothing stored',
    bare: 'bare HTTP',
    raw: rawInto(stored),
    ...(empty && empty !== stored && { empty: jobcastOn(empty) }),
  })
  return `## ${formatRate(stored.executions)} executions stored before\n\n${table}`
}

function limitsSection(measured: CellResult[]): string {
  const sync = measureSync()
  const busiest = Math.max(...measured.map(({ of }) => of('bare HTTP').cores ?? 0))
  return (
    `fdatasync of 4 KiB on the same disk: p50 ${formatMs(sync.p50)} ms, p99 ${formatMs(sync.p99)} ms. ` +
    `The load process kept at most ${busiest.toFixed(2)} cores busy (against bare HTTP).`
  )
}

async function interferenceSection(stored: Stored): Promise<string> {
  const sides = [
    { name: 'Jobcast', start: () => startOnCopy(stored) },
    { name: 'nothing stored', start: startNothingStored },
  ]
  const table = await interferenceTable(sides, options)
  return `## Small requests beside large calls, ${formatRate(stored.executions)} executions stored before\n\n${table}`
}

async function restartSection(stored: Stored): Promise<string> {
  const ms = await measureRestart(stored, options.rounds)
  const before = `${formatRate(stored.executions)} unfinished executions stored before`
  return `Restart after kill -9 under load, ${before}: ${(ms / 1000).toFixed(2)} s until /readyz answers 200.`
}
