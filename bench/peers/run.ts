// npm run bench:peers: Jobcast compared with other job queues, each behind the same Fastify route, each durable.

import { besideSection } from '../beside-section.ts'
import { type Cell, type Contender, overHttp, startNothingStored, startOnCopy } from '../contenders.ts'
import { openLoader } from '../loader.ts'
import { measureCells } from '../measure-cells.ts'
import { pick, readOptions } from '../options.ts'
import { publish } from '../report.ts'
import { startTarget, type Target } from '../server-process.ts'
import { buildStored } from '../stored.ts'
import { startPostgres } from './postgres.ts'
import { hasRedis, startRedis } from './redis.ts'

const cells: Cell[] = [
  { devices: 1, callers: 64, hasKeys: true },
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
const missing: [string, string][] = hasRedis() ? [] : [['BullMQ', 'no redis-server on the PATH']]
const sections = results.map((result) => besideSection(result, contenders, missing))
publish('Triggers beside other job queues', [conditions(), ...sections], options)
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

function conditions(): string {
  return (
    'Each queue stands behind the same Fastify app, with the same checks, and is given one job per device in one ' +
    'bulk call. PostgreSQL 18 with its defaults (fsync on); Redis with appendfsync always; pools as each library has them by default. ' +
    'With an Idempotency-Key pg-boss gets a singletonKey for a day, BullMQ a jobId and graphile-worker a jobKey for each device. None of ' +
    'them compares the request or repeats the first answer, and graphile-worker overwrites the job that has the key.'
  )
}
