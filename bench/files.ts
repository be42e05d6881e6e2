// Memory of the node and the time of triggers while devices fetch files: from a folder, from a bucket through Jobcast, and from the
// bucket itself. The bucket is OpenStack Swift, in memory, on the same machine. Linux only. npm run bench:files

import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { newDevice } from '@jobcast/testkit/call-device'
import { openS3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { type SpawnedServer, startProgram } from '@jobcast/testkit/spawn-server'
import type { FetchOrder, FetchResult } from './files-devices.ts'
import { percentile } from './numbers.ts'
import { pick, positive } from './options.ts'
import { endProcess, removeFolder, startProcess, temporaryFolder } from './processes.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '64' },
    megabytes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '2' },
    /** Of each device, in MB per second; without it, as fast as possible. */
    rate: { type: 'string' },
    from: { type: 'string' },
    out: { type: 'string' },
  },
})
const devices = positive('devices', values.devices)
const megabytes = positive('megabytes', values.megabytes)
const rounds = positive('rounds', values.rounds)
const rate = values.rate === undefined ? undefined : positive('rate', values.rate)
const aloneMs = 10_000
const loadBefore = loadavg()[0] ?? 0
const closers: (() => unknown)[] = []
const s3 = withoutS3
  ? undefined
  : await openS3Server({ after: (close) => closers.unshift(close) }, 5 * 1024 * 1024)
const sources = pick(
  [
    { name: 'folder', env: {} },
    ...(s3 ? [{ name: 'bucket', env: s3.env('bucket') }] : []),
    ...(s3 ? [{ name: 'direct', env: { ...s3.env('direct'), JOBCAST_FILES_S3_DIRECT: s3.url } }] : []),
  ],
  values.from?.split(','),
)

const rows: string[] = []
for (const { name, env } of sources) rows.push(...(await measure(name, env)))
for (const close of closers) await close()
const text = `# Files, ${new Date().toISOString().slice(0, 10)}

${availableParallelism()} cores, Node ${process.versions.node}. ${devices} devices fetch ${megabytes} MB each at the same time${rate ? `, at ${rate} MB/s each` : ''}. Load average before
the run: ${loadBefore.toFixed(1)}.${withoutS3 ? ` No bucket: ${withoutS3}.` : ''}

| from | round | MB/s | retries | RSS before | at most | growth, MB | trigger p99 alone, ms | beside | ratio |
|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`
console.log(text)
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true })
  writeFileSync(values.out, text)
}

async function measure(name: string, env: Record<string, string>): Promise<string[]> {
  const folder = temporaryFolder()
  const server = await startProgram(folder, { env, flags: ['--rate', 'key=0', '--rate', 'owner=0'] }).ready
  const url = await urlOfFile(server)
  const found: string[] = []
  for (let round = 1; round <= rounds; round++) {
    const alone = await triggersUntil(server, sleep(aloneMs))
    const before = residentBytes(server.pid)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, residentBytes(server.pid))
    }, 50)
    const fetching = fetchAll({ url, size: megabytes * 1e6, devices, bytesPerSecond: rate && rate * 1e6 })
    const beside = await triggersUntil(server, fetching)
    const { bytes, ms, retries } = await fetching
    clearInterval(watching)
    if (bytes !== devices * megabytes * 1e6) throw new Error(`${bytes} bytes were fetched`)
    const sizes = [before, most, most - before].map((size) => (size / 1e6).toFixed(0))
    const times = [alone.toFixed(1), beside.toFixed(1), (beside / alone).toFixed(2)]
    found.push(
      `| ${[name, round, (bytes / 1000 / ms).toFixed(0), retries, ...sizes, ...times].join(' | ')} |`,
    )
    console.log(found.at(-1))
  }
  await server.end('SIGTERM')
  removeFolder(folder)
  return found
}

/** As a device gets it. */
async function urlOfFile(server: SpawnedServer): Promise<string> {
  const content = Buffer.alloc(megabytes * 1e6, 'content of a file, ')
  const headers = { 'content-type': 'application/octet-stream' }
  const put = await server.call('PUT', '/job/api/files/app/1', { rawBody: content, headers })
  if (put.status !== 201) throw new Error(put.text)
  await server.call('PUT', '/job/api/jobs/fetch', { body: { document: { files: ['app'] } } })
  await server.call('PUT', '/job/api/jobs/restart', { body: { document: {} } })
  const device = await newDevice(server, 'kiosk-1')
  await server.trigger('fetch', ['kiosk-1'])
  const { execution } = (await device.startNext()).json
  await device.update(execution.jobId, 'SUCCEEDED')
  return execution.files.app.url
}

/** The 99th percentile in milliseconds, of one caller. */
async function triggersUntil(server: SpawnedServer, end: Promise<unknown>): Promise<number> {
  const times: number[] = []
  let isOver = false
  const ended = end.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const begun = performance.now()
    const { status, text: answer } = await server.trigger('restart', ['kiosk-1'])
    if (status !== 201) throw new Error(answer)
    times.push(performance.now() - begun)
  }
  await ended
  return percentile(
    times.toSorted((a, b) => a - b),
    0.99,
  )
}

/** In a process of their own. */
async function fetchAll(order: FetchOrder): Promise<FetchResult> {
  const program = fileURLToPath(new URL('files-devices.ts', import.meta.url))
  const child = startProcess(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('the devices ended')))
  failed.catch(() => undefined)
  const [result] = await Promise.race([once(child, 'message'), failed])
  await endProcess(child)
  return result
}

function residentBytes(pid: number): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
