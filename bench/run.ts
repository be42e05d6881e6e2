// npm run bench: Jobcast compared with its limits, all measured in this run.

import { callersSection } from './callers.ts'
import {
  type Cell,
  overHttp,
  rawInsert,
  startBareHttp,
  startNothingStored,
  startOnCopy,
  startSqliteSketch,
} from './contenders.ts'
import { interferenceTable } from './interference.ts'
import { measureSync } from './limits/sync-latency.ts'
import { openLoader } from './loader.ts'
import { type CellResult, measureCells } from './measure-cells.ts'
import { pick, readOptions } from './options.ts'
import { publish } from './report.ts'
import { measureRestart } from './restart.ts'
import { slowSyncTable } from './slow-sync.ts'
import { buildStored, type Stored } from './stored.ts'
import { formatMs, formatRate } from './table.ts'
import { triggerTable } from './trigger-table.ts'

const cells: Cell[] = [
  { devices: 1, callers: 1, hasKeys: true },
  { devices: 1, callers: 64, hasKeys: true },
  ...[1, 10, 100, 1000, 10_000].flatMap((devices) => [
    { devices, callers: 1 },
    { devices, callers: devices === 10_000 ? 8 : 64 },
  ]),
]
const options = readOptions(process.argv.slice(2), cells)

const loader = openLoader()
const levels: Stored[] = []
for (const executions of options.preload > 0 ? [0, options.preload] : [0]) {
  console.error(`making a database with ${executions} executions`)
  levels.push(await buildStored(executions))
}
const jobcastOn = ({ executions }: Stored) => `Jobcast at ${executions}`
const rawInto = ({ executions }: Stored) => `raw insert at ${executions}`

const limits = pick(
  [
    { name: 'nothing stored', of: () => [overHttp('nothing stored', loader, startNothingStored)] },
    { name: 'sketch', of: () => [overHttp('sketch', loader, startSqliteSketch)] },
    { name: 'bare HTTP', of: () => [overHttp('bare HTTP', loader, startBareHttp)] },
    { name: 'raw insert', of: () => levels.map((stored) => rawInsert(rawInto(stored), stored)) },
  ],
  options.beside,
)
const parts = pick(
  [
    { name: 'callers', of: callerSections },
    { name: 'triggers', of: triggerSections },
    { name: 'beside', of: interferenceSections },
    { name: 'restart', of: restartSections },
    { name: 'slow-sync', of: slowSyncSections },
  ],
  options.parts,
)
const sections: string[] = []
for (const { of } of parts) sections.push(...(await of()))
publish('Triggers', sections, options)
process.exit()

async function callerSections(): Promise<string[]> {
  const [empty] = levels
  return empty ? [await callersSection((flags = []) => startOnCopy(empty, { flags }), loader, options)] : []
}

async function triggerSections(): Promise<string[]> {
  const jobcasts = levels.map((stored) => overHttp(jobcastOn(stored), loader, () => startOnCopy(stored)))
  const contenders = [...jobcasts, ...limits.flatMap(({ of }) => of())]
  const results = await measureCells(options.cells, contenders, options)
  return [...levels.map((stored) => tableSection(results, stored)), limitsSection(results)]
}

async function interferenceSections(): Promise<string[]> {
  const made: string[] = []
  for (const stored of levels) made.push(await interferenceSection(stored))
  return made
}

/** Only with --slow-sync. */
async function slowSyncSections(): Promise<string[]> {
  const { slowSyncMs } = options
  if (slowSyncMs === undefined) return []
  const made: string[] = []
  for (const stored of levels) {
    const table = await slowSyncTable(stored, loader, { ...options, slowSyncMs })
    made.push(
      `## Every sync ${slowSyncMs} ms slower, ${formatRate(stored.executions)} executions stored before\n\n${table}`,
    )
  }
  return made
}

async function restartSections(): Promise<string[]> {
  const made: string[] = []
  for (const stored of levels) made.push(await restartSection(stored))
  return made
}

function tableSection(measured: CellResult[], stored: Stored): string {
  const [empty] = levels
  const table = triggerTable(measured, {
    jobcast: jobcastOn(stored),
    limits: limits.map(({ name }) => ({ name, contender: name === 'raw insert' ? rawInto(stored) : name })),
    ...(empty && empty !== stored && { empty: jobcastOn(empty) }),
  })
  return `## ${formatRate(stored.executions)} executions stored before\n\n${table}`
}

function limitsSection(measured: CellResult[]): string {
  const sync = measureSync()
  const disk = `fdatasync of 4 KiB on the same disk: p50 ${formatMs(sync.p50)} ms, p99 ${formatMs(sync.p99)} ms.`
  if (limits.every(({ name }) => name !== 'bare HTTP')) return disk
  const busiest = Math.max(...measured.map(({ of }) => of('bare HTTP').cores ?? 0))
  return `${disk} The load process kept at most ${busiest.toFixed(2)} cores busy (against bare HTTP).`
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
