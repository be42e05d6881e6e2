// npm run bench:postgres: Jobcast on PostgreSQL compared with its limits and peers on the same server, all in this run.

import { besideSection } from '../beside-section.ts'
import { callersSection } from '../callers.ts'
import { overHttp, startNothingStored } from '../contenders.ts'
import { openLoader } from '../loader.ts'
import { measureCells } from '../measure-cells.ts'
import { pick, readOptions } from '../options.ts'
import { startPostgres } from '../peers/postgres.ts'
import { publish } from '../report.ts'
import { startTarget } from '../server-process.ts'
import { copyRows } from './copy-rows.ts'
import { buildDatabases, startNode } from './databases.ts'
import { millionSection } from './million.ts'
import { twoNodesSection } from './two-nodes.ts'
import { wakeUpSection } from './wake-up.ts'

const options = readOptions(process.argv.slice(2), [
  { devices: 1, callers: 1, hasKeys: true },
  { devices: 1, callers: 64, hasKeys: true },
  { devices: 1, callers: 1 },
  { devices: 1, callers: 64 },
  { devices: 100, callers: 64 },
  { devices: 10_000, callers: 8 },
])
const loader = openLoader()
const postgres = await startPostgres()
console.error('making a database with the fleet')
const databases = await buildDatabases(postgres.url)

const beside = [
  overHttp('sketch', loader, startSketch),
  overHttp('nothing stored', loader, startNothingStored),
  copyRows('COPY', databases),
  overHttp('pg-boss', loader, () => startTarget('peers/pg-boss.ts', postgres.url)),
  overHttp('graphile-worker', loader, () => startTarget('peers/graphile-worker.ts', postgres.url)),
]
const contenders = [overHttp('Jobcast', loader, () => startOnCopy()), ...pick(beside, options.beside)]
const parts = pick(
  [
    { name: 'callers', of: () => callersSection((flags = []) => startOnCopy(...flags), loader, options) },
    { name: 'triggers', of: triggerSection },
    { name: 'million', of: () => millionSection(databases) },
    { name: 'two-nodes', of: () => twoNodesSection(databases, options) },
    { name: 'wake-up', of: () => wakeUpSection(databases, options) },
  ],
  options.parts,
)
const sections = [conditions()]
for (const { of } of parts) sections.push(await of())
await postgres.end()
publish('On PostgreSQL', sections, options)
process.exit()

async function triggerSection(): Promise<string> {
  const results = await measureCells(options.cells, contenders, options)
  return results.map((result) => besideSection(result, contenders)).join('\n\n')
}

async function startOnCopy(...flags: string[]) {
  const url = await databases.copy()
  const node = await startNode(url, ...flags)
  return {
    ...node,
    async end() {
      await node.end()
      await databases.drop(url)
    },
  }
}

async function startSketch() {
  const url = await databases.empty()
  const sketch = await startTarget('limits/postgres-sketch.ts', url)
  return {
    ...sketch,
    async end() {
      await sketch.end()
      await databases.drop(url)
    },
  }
}

function conditions(): string {
  return (
    'PostgreSQL 18 with its defaults (fsync on), on the same machine as the service and the load. The queues stand behind ' +
    'the same Fastify app with the same checks. COPY reads files on the server, two sessions at once, into the same table ' +
    'with the same indexes. With an Idempotency-Key pg-boss gets a singletonKey for a day, and graphile-worker a jobKey.'
  )
}
