// Measures calls on very many devices over HTTP: an import, a run of a selector, its cancel, and its failures.
// Arguments: `sqlite` or `postgres` for only one of the stores, a number of devices, `--rounds`. Linux only.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newSecretText } from '@jobcast/server'
import { createDatabase, execute, startPostgres } from '@jobcast/testkit/postgres-server'
import { type Jobcast, startJobcast } from './jobcast.ts'
import { median } from './numbers.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { treeCpu } from './registered.ts'
import { formatMs, formatTable } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
})
const rounds = Number(values.rounds)
const devices = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 100_000)
const stores = ['sqlite', 'postgres'].filter(
  (name) => !positionals.some((word) => /^[a-z]/.test(word)) || positionals.includes(name),
)
/** Targets for 100,000 devices. */
const wantedMs: Record<string, number> = { import: 6000, cancel: 3000 }

type Service = { jobcast: Jobcast; cpu: () => number; close(): Promise<void> }

async function openService(isPostgres: boolean): Promise<Service> {
  const folder = temporaryFolder()
  const postgres = isPostgres ? await startPostgres() : undefined
  const url = postgres && (await createDatabase(postgres.url))
  const pid = url ? await databasePid(url) : undefined
  const jobcast = await startJobcast(folder, url ? { env: { DATABASE_URL: url, ...adminKey } } : {})
  return {
    jobcast,
    cpu: () => treeCpu(jobcast.pid) + (pid === undefined ? 0 : treeCpu(pid)),
    async close() {
      await jobcast.end()
      await postgres?.stop()
      removeFolder(folder)
    },
  }
}

const adminKey = { JOBCAST_ADMIN_KEY: newSecretText('jc').text }

async function databasePid(url: string): Promise<number> {
  const [row] = await execute(url, 'SHOW data_directory')
  const file = join(String(row?.data_directory), 'postmaster.pid')
  return Number(readFileSync(file, 'utf8').split('\n', 1)[0])
}

type Figures = Record<'ms' | 'cpu', number[]>

async function measure({ jobcast: { port, apiKey }, cpu }: Service): Promise<Map<string, Figures>> {
  const figures = new Map<string, Figures>()
  const call = async (
    title: string,
    method: string,
    path: string,
    body?: string,
    type = 'application/json',
  ) => {
    const [begun, used] = [performance.now(), cpu()]
    const response = await fetch(`http://127.0.0.1:${port}/job/api/${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    const { ms, cpu: cpus } = figures.get(title) ?? { ms: [], cpu: [] }
    figures.set(title, { ms: [...ms, performance.now() - begun], cpu: [...cpus, cpu() - used] })
    return JSON.parse(text)
  }
  await call('', 'PUT', 'jobs/update', '{}')
  for (let round = 0; round < rounds; round++) {
    const lines = Array.from({ length: devices }, (_, index) =>
      JSON.stringify({
        deviceId: `round${round}-${String(index).padStart(7, '0')}`,
        tags: [index % 2 === 0 ? 'kiosk' : 'gate'],
        attributes: { site: `site-${index % 100}`, fw: '2.4.0', slot: index % 1000 },
      }),
    )
    const imported = await call('import', 'POST', 'devices/import', lines.join('\n'), 'application/x-ndjson')
    if (imported.created !== devices) throw new Error(`${imported.created} of ${devices} were created`)
    const content = { jobName: 'update', targets: { where: `deviceId~round${round}-*` } }
    const { runId } = await call('run by selector', 'POST', 'runs', JSON.stringify(content))
    const canceled = await call('cancel', 'POST', `runs/${runId}/cancel`, '{}')
    if (!canceled.finished) console.log(`${canceled.counts.PENDING} are still to be canceled`)
    while (!(await call('', 'GET', `runs/${runId}?wait=20`)).finished);
    await call('failures', 'GET', `runs/${runId}/failures`)
  }
  figures.delete('')
  return figures
}

for (const name of stores) {
  const service = await openService(name === 'postgres')
  try {
    const rows = [...(await measure(service))].map(([title, { ms, cpu }]) => [
      ...[title, formatMs(median(ms)), `${formatMs(Math.min(...ms))}–${formatMs(Math.max(...ms))}`],
      ...[formatMs(median(cpu)), String(wantedMs[title] ?? '')],
    ])
    const head = ['', 'ms', 'from–to', 'CPU ms', 'at most']
    console.log(`${name}, ${devices.toLocaleString('en-US')} devices\n\n${formatTable(head, rows)}\n`)
  } finally {
    await service.close()
  }
}
