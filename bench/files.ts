// Memory of the node and the time of triggers while devices fetch files: from a folder, from a bucket through Jobcast, and from the
// bucket itself. The bucket is OpenStack Swift, in memory, on the same machine. Devices compete with the node for the cores, so the
// reference in each round is the time of triggers while the same devices fetch from a bare server (files-reference.ts) in another
// process. Linux only. npm run bench:files

import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { availableParallelism, loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { newDevice } from '@jobcast/testkit/call-device'
import { openS3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { type SpawnedServer, startProgram } from '@jobcast/testkit/spawn-server'
import type { FetchOrder, FetchResult } from './files-devices.ts'
import type { LoopReport } from './files-loop.ts'
import { median, percentile } from './numbers.ts'
import { pick, positive } from './options.ts'
import { endProcess, removeFolder, startProcess, temporaryFolder } from './processes.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '64' },
    megabytes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
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
const loopProgram = fileURLToPath(new URL('files-loop.ts', import.meta.url))
const referenceProgram = fileURLToPath(new URL('files-reference.ts', import.meta.url))
const loadBefore = loadavg()[0] ?? 0
const closers: (() => unknown)[] = []
const wanted = values.from?.split(',')
const needsS3 = wanted === undefined || wanted.some((name) => name !== 'folder')
const s3 =
  withoutS3 || !needsS3
    ? undefined
    : await openS3Server({ after: (close) => closers.unshift(close) }, 5 * 1024 * 1024)
const sources = pick(
  [
    { name: 'folder', env: {} },
    ...(s3 ? [{ name: 'bucket', env: s3.env('bucket') }] : []),
    ...(s3 ? [{ name: 'direct', env: { ...s3.env('direct'), JOBCAST_FILES_S3_DIRECT: s3.url } }] : []),
  ],
  wanted,
)

const rows: string[] = []
const medians: string[] = []
for (const { name, env } of sources) await measure(name, env)
for (const close of closers) await close()
const text = `# Files, ${new Date().toISOString().slice(0, 10)}

${availableParallelism()} cores, Node ${process.versions.node}. ${devices} devices fetch ${megabytes} MB each at the same time${rate ? `, at ${rate} MB/s each` : ''}. Load average before
the run: ${loadBefore.toFixed(1)}.${withoutS3 ? ` No bucket: ${withoutS3}.` : ''}

Medians of ${rounds} rounds, with the lowest and the highest. *Reference*: the same devices fetch from a bare server in another process.

| from | p99 beside ÷ reference | p99 beside ÷ alone | reference ÷ alone | growth, MB |
|---|---|---|---|---|
${medians.join('\n')}

| from | round | MB/s | reference | retries | growth, MB | CPU ms/MB | loop delay p50, ms | p99 | longest | trigger p50 alone, ms | reference | beside | p99 alone | reference | beside |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`
console.log(text)
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true })
  writeFileSync(values.out, text)
}

type Round = { besideReference: number; besideAlone: number; referenceAlone: number; growth: number }

async function measure(name: string, env: Record<string, string>): Promise<void> {
  const folder = temporaryFolder()
  const loop = join(folder, 'loop')
  const server = await startProgram(folder, {
    env: { ...env, NODE_OPTIONS: `--import ${loopProgram}`, BENCH_LOOP: loop },
    flags: ['--rate', 'key=0', '--rate', 'owner=0', '--quota', 'device-executions=10000000'],
  }).ready
  const content = Buffer.alloc(megabytes * 1e6, 'content of a file, ')
  const url = await urlOfFile(server, content)
  const reference = await startReference(join(folder, 'reference'), content)
  const found: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const alone = await triggersUntil(server, sleep(aloneMs))
    const fromReference = await triggersBeside(server, reference.url)
    const before = residentBytes(server.pid)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, residentBytes(server.pid))
    }, 50)
    await readLoop(loop)
    const beside = await triggersBeside(server, url)
    const { p50, p99, most: longest, cpu } = await readLoop(loop)
    clearInterval(watching)
    const of = (each: { p99: number }, other: { p99: number }) => each.p99 / other.p99
    const growth = (most - before) / 1e6
    found.push({
      ...{ besideReference: of(beside, fromReference), besideAlone: of(beside, alone), growth },
      referenceAlone: of(fromReference, alone),
    })
    const times = [alone, fromReference, beside]
    const cells = [
      ...[beside.megabytesPerSecond, fromReference.megabytesPerSecond, beside.retries, growth].map((each) =>
        each.toFixed(0),
      ),
      ...[(cpu / devices / megabytes).toFixed(2), p50.toFixed(2), p99.toFixed(2), longest.toFixed(0)],
      ...[...times.map((each) => each.p50), ...times.map((each) => each.p99)].map((each) => each.toFixed(1)),
    ]
    rows.push(`| ${[name, round, ...cells].join(' | ')} |`)
    console.log(rows.at(-1))
  }
  const cells = (['besideReference', 'besideAlone', 'referenceAlone', 'growth'] as const).map((field) => {
    const each = found.map((one) => one[field])
    const digits = field === 'growth' ? 0 : 2
    return `${median(each).toFixed(digits)} (${Math.min(...each).toFixed(digits)} to ${Math.max(...each).toFixed(digits)})`
  })
  medians.push(`| ${[name, ...cells].join(' | ')} |`)
  await reference.end()
  await server.end('SIGTERM')
  removeFolder(folder)
}

async function triggersBeside(server: SpawnedServer, url: string) {
  const fetching = fetchAll({ url, size: megabytes * 1e6, devices, bytesPerSecond: rate && rate * 1e6 })
  const times = await triggersUntil(server, fetching)
  const { bytes, ms, retries } = await fetching
  if (bytes !== devices * megabytes * 1e6) throw new Error(`${bytes} bytes were fetched`)
  return { ...times, retries, megabytesPerSecond: bytes / 1000 / ms }
}

async function startReference(path: string, content: Buffer) {
  writeFileSync(path, content)
  const child = startProcess(process.execPath, [referenceProgram, path, String(content.length)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [url] = await once(child, 'message')
  return { url: String(url), end: () => endProcess(child) }
}

/** Of the time since the previous call. */
function readLoop(socketPath: string): Promise<LoopReport> {
  return new Promise((resolve, reject) => {
    get({ socketPath }, (response) => resolve(textOf(response).then(JSON.parse))).on('error', reject)
  })
}

/** As a device gets it. */
async function urlOfFile(server: SpawnedServer, content: Buffer): Promise<string> {
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

/** Percentiles in milliseconds, of one caller. */
async function triggersUntil(server: SpawnedServer, end: Promise<unknown>) {
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
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
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
