// npm run bench:peers: Jobcast beside other job queues, each behind the same Fastify route, each durable.

import { type Cell, type Contender, overHttp, startNothingStored, startOnCopy } from '../contenders.ts'
import { openLoader } from '../loader.ts'
import { type CellResult, measureCells } from '../measure-cells.ts'
import { pick, readOptions } from '../options.ts'
import { publish } from '../report.ts'
import { startTarget, type Target } from '../server-process.ts'
import { buildStored } from '../stored.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from '../table.ts'
import { startPostgres } from './postgres.ts'
import { hasRedis, startRedis } from './redis.ts'

const cells: Cell[] = [
  { devices: 1, callers: 64 },
  { devices: 100, callers: 64 },
  { devices: 10_000, callers: 8 },
]
const options = readOptions(process.argv.slice(2), cells)
const loader = openLoader()
const stored = await buildStored(0)
const postgres = await startPostgres()

const beside: Contender[] = [
  overHttp('nothing stored', loader, startNothingStored),
  overHttp('pg-boss', loader, () => startTarget('peers/pg-boss.ts', postgres.url)),
  overHttp('graphile-worker', loader, () => startTarget('peers/graphile-worker.ts', postgres.url)),
]
if (hasRedis()) beside.push(overHttp('BullMQ', loader, startBullmq))
const contenders = [overHttp('Jobcast', loader, () => startOnCopy(stored)), ...pick(beside, options.beside)]
const results = await measureCells(options.cells, contenders, options)
await postgres.end()
publish('Triggers beside other job queues', [conditions(), ...results.map(cellSection)], options)
process.exit()

async function startBullmq(): Promise<Target> {
  const redis = await startRedis()
  const target = await startTarget('peers/bullmq.ts', String(redis.port))
  return {
    ...target,
    async end() {
      await target.end()
      await redis.end()
    },
  }
}

function cellSection({ cell, of }: CellResult): string {
  const jobcast = of('Jobcast')
  const rows = contenders.map(({ name }) => {
    const { callsPerSecond, p50, p99, spread } = of(name)
    const ratio = formatRatio(jobcast.callsPerSecond / callsPerSecond)
    const rates = [formatRate(callsPerSecond), formatRate(callsPerSecond * cell.devices)]
    return [name, `**${ratio} ×**`, ...rates, formatMs(p50), formatMs(p99), formatSpread(spread)]
  })
  if (!hasRedis()) rows.push(['BullMQ', 'no redis-server on the PATH', '–', '–', '–', '–', '–'])
  const head = ['', '**Jobcast is**', 'triggers/s', 'executions/s', 'p50 ms', 'p99 ms', 'spread']
  return `## Devices a call: ${formatRate(cell.devices)}, callers: ${cell.callers}\n\n${formatTable(head, rows)}`
}

function conditions(): string {
  return (
    'Each queue stands behind the same Fastify app, with the same checks, and is given one job per device in one ' +
    'bulk call. PostgreSQL 18 with its defaults (fsync on); Redis with appendfsync always; pools as each library has them by default.'
  )
}
