// What the console costs the browser: first load of each screen, requests and the longest task while events arrive, the heap of
// lists that stay open, and the fleet with 100,000 devices. Against the real server, with simulated devices. npm run bench:console

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildConsoleIfStale } from '@jobcast/console/build'
import { type SpawnedServer, startProgram } from '@jobcast/testkit/spawn-server'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { countLoaded } from '../console/test/count-loaded.ts'
import { findBrowser } from '../console/test/find-browser.ts'
import { type Example, fillExample, importDevices, type Screen } from './console/example.ts'
import { withEvents } from './console/make-events.ts'
import { tasksDuring } from './console/page-tasks.ts'
import { median } from './numbers.ts'
import { pick, positive } from './options.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { formatTable } from './table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** How long lists stay open. */
    minutes: { type: 'string', default: '2' },
    /** How long a round with events takes. */
    seconds: { type: 'string', default: '10' },
    /** In the fleet that is loaded. */
    devices: { type: 'string', default: '100000' },
    parts: { type: 'string' },
    out: { type: 'string' },
  },
})
const rounds = positive('rounds', values.rounds)
const minutes = positive('minutes', values.minutes)
const seconds = positive('seconds', values.seconds)
const largeFleet = positive('devices', values.devices)

const [kbAtMost, filesAtMost] = [60, 20]
const loads: number[] = [loadavg()[0] ?? 0]
const note = () => void loads.push(loadavg()[0] ?? 0)

type Part = { name: string; title: string; measure: (bench: Bench) => Promise<string> }
type Bench = { server: SpawnedServer; browser: Browser; example: Example }

const parts: Part[] = [
  { name: 'load', title: 'First load', measure: firstLoads },
  { name: 'requests', title: 'Requests at 1,000 events a second', measure: requests },
  {
    name: 'tasks',
    title: 'Longest task at 500 events a second, CPU slowed four times',
    measure: longestTasks,
  },
  { name: 'heap', title: `Heap of open lists at 500 events a second`, measure: heapOverTime },
  {
    name: 'large',
    title: `The fleet with ${largeFleet.toLocaleString('en')} devices`,
    measure: largeFleetLoad,
  },
]

await buildConsoleIfStale()
const folder = temporaryFolder()
const server = await startProgram(folder, { flags: ['--rate', 'key=0', '--rate', 'owner=0'] }).ready
const browser = await chromium.launch({
  ...(await findBrowser()),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--enable-precise-memory-info'],
})
const example = await fillExample(server, 100, 9_000)
const sections: string[] = []
for (const { title, measure } of pick(parts, values.parts?.split(','))) {
  note()
  const text = await measure({ server, browser, example })
  console.log(`\n## ${title}\n\n${text}`)
  sections.push(`## ${title}\n\n${text}`)
}
note()
await browser.close()
await example.fleet.stop()
await server.end('SIGTERM')
removeFolder(folder)
if (values.out !== undefined) {
  const [least, most] = [Math.min(...loads), Math.max(...loads)].map((load) => load.toFixed(1))
  const head =
    `# Console, ${new Date().toISOString().slice(0, 10)}\n\n${availableParallelism()} cores, Node ${process.versions.node}, Chromium ${browser.version()}. ` +
    `Medians of ${rounds} rounds, with the least and the most.\n` +
    `The load average was between ${least} and ${most}: with more than 1, times are those of a busy machine. Counts do not depend on it.`
  mkdirSync(dirname(values.out), { recursive: true })
  writeFileSync(values.out, `${[head, ...sections].join('\n\n')}\n`)
}

async function openScreen(path: string, ready = 'main h1'): Promise<Page> {
  const page = await signedIn()
  await open(page, path, ready)
  return page
}

/** With an empty cache. */
async function signedIn(): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1440, height: 900 } })
  const answer = await server.call('POST', '/job/api/session', { body: { apiKey: server.adminKey } })
  const [, name = '', value = ''] = /^([^=;]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? []
  await context.addCookies([{ name, value, url: server.http, httpOnly: true, sameSite: 'Strict' }])
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.addInitScript(() => localStorage.setItem('jobcast-signed-in', 'yes'))
  return page
}

async function open(page: Page, path: string, ready: string): Promise<void> {
  await page.goto(server.http + path)
  await page.locator('main h1').first().waitFor()
  await page.locator(ready).first().waitFor()
}

function spread(numbers: readonly number[], digits = 0): string[] {
  const text = [median(numbers), Math.min(...numbers), Math.max(...numbers)].map((number) =>
    number.toFixed(digits),
  )
  return [`**${text[0]}**`, `${text[1]} to ${text[2]}`]
}

async function firstLoads({ example: { screens } }: Bench): Promise<string> {
  const rows: string[][] = []
  for (const screen of screens) {
    const found = []
    for (let round = 0; round < rounds; round++) found.push(await firstLoad(screen))
    const kb = found.map(({ bytes }) => bytes / 1024)
    const files = found.map((each) => each.files)
    const isKept = median(kb) <= kbAtMost && median(files) <= filesAtMost
    rows.push([screen.name, ...spread(kb, 1), ...spread(files), isKept ? 'yes' : '**no**'])
  }
  const head = ['', 'KB', 'rounds', 'files', 'rounds', `at most ${kbAtMost} KB and ${filesAtMost} files`]
  return formatTable(head, rows)
}

/** Until nothing more is loaded: parts of a screen are loaded after it. */
async function firstLoad({ path, ready }: Screen) {
  const page = await signedIn()
  const { loaded, stop } = countLoaded(page)
  await open(page, path, ready ?? 'main h1')
  for (let before = -1; before !== loaded.files; ) {
    before = loaded.files
    await sleep(1500)
  }
  stop()
  await page.context().close()
  return loaded
}

function watched(run: number) {
  return [
    { name: 'Fleet', path: '/' },
    { name: 'Run', path: `/runs/${run}` },
    { name: 'Runs', path: '/runs' },
    { name: 'Executions', path: '/executions' },
    { name: 'Fleet as a wall', path: '/?wall=on' },
  ]
}

async function requests({ example: { deviceIds, run } }: Bench): Promise<string> {
  const rows: string[][] = []
  for (const { name, path } of watched(run)) {
    const page = await openScreen(path)
    await sleep(3000)
    const rates: number[] = []
    const events: number[] = []
    for (let round = 0; round < rounds; round++) {
      let count = 0
      const onRequest = (request: { url: () => string }) => {
        if (request.url().includes('/job/api/')) count++
      }
      page.on('request', onRequest)
      const begun = performance.now()
      events.push(await withEvents(server, deviceIds, 1000, () => sleep(seconds * 1000)))
      rates.push((count * 1000) / (performance.now() - begun))
      page.off('request', onRequest)
    }
    rows.push([name, ...spread(rates, 1), ...spread(events), median(rates) <= 2 ? 'yes' : '**no**'])
    await page.context().close()
  }
  return formatTable(['', 'requests/s', 'rounds', 'events/s reached', 'rounds', 'at most 2'], rows)
}

async function longestTasks({ example: { deviceIds, run } }: Bench): Promise<string> {
  const rows: string[][] = []
  for (const { name, path } of watched(run)) {
    const page = await openScreen(path)
    const debug = await page.context().newCDPSession(page)
    await debug.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await sleep(3000)
    const [cpu, wall, events]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      const tasks = await tasksDuring(browser, page, async () => {
        events.push(await withEvents(server, deviceIds, 500, () => sleep(seconds * 1000)))
      })
      cpu.push(tasks[0]?.cpuMs ?? 0)
      wall.push(Math.max(0, ...tasks.map(({ wallMs }) => wallMs)))
    }
    rows.push([
      name,
      ...spread(cpu),
      ...spread(wall),
      ...spread(events),
      median(cpu) <= 100 ? 'yes' : '**no**',
    ])
    await page.context().close()
  }
  const head = ['', 'CPU ms', 'rounds', 'wall ms', 'rounds', 'events/s reached', 'rounds', 'at most 100']
  return `${formatTable(head, rows)}\n\nCPU time of the page's thread, which other programs lengthen little; the wall time includes waiting for a core.`
}

async function heapOverTime({ example: { deviceIds } }: Bench): Promise<string> {
  const rows: string[][] = []
  const lists = ['/runs', '/executions', '/devices', '/audit']
  const pages = await Promise.all(
    lists.map(async (path) => {
      const page = await openScreen(path, 'main [role=table], main table')
      return { path, debug: await page.context().newCDPSession(page), page, heap: [] as number[] }
    }),
  )
  const readings = Math.max(6, Math.round(minutes * 6))
  const reached = await withEvents(server, deviceIds, 500, async () => {
    for (let reading = 0; reading <= readings; reading++) {
      for (const { debug, heap } of pages) heap.push(await heapMb(debug))
      await sleep((minutes * 60_000) / readings)
    }
  })
  for (const { path, page, heap } of pages) {
    const third = Math.floor(heap.length / 3)
    const [first, last] = [median(heap.slice(1, third + 1)), median(heap.slice(-third))]
    const growth = last - first
    const rowsShown = await page.locator('[role=row]').count()
    const isFlat = growth <= Math.max(1, 0.1 * first)
    const cells = [first, last, growth, Math.max(...heap)].map((mb) => mb.toFixed(1))
    rows.push([path, ...cells, String(rowsShown), isFlat ? 'yes' : '**no**'])
    await page.context().close()
  }
  const head = ['', 'MB, first third', 'last third', 'growth', 'most', 'rows drawn', 'flat']
  return (
    `${minutes} minutes at ${reached.toFixed(0)} events a second, ${readings + 1} readings after a garbage collection. Flat: it grows by at most 1 MB or 10 % from the ` +
    `first third of the readings to the last.\n\n${formatTable(head, rows)}`
  )
}

async function heapMb(debug: CDPSession): Promise<number> {
  await debug.send('HeapProfiler.collectGarbage')
  const { usedSize } = await debug.send('Runtime.getHeapUsage')
  return usedSize / 1e6
}

async function largeFleetLoad(): Promise<string> {
  const before = (await server.call('GET', '/job/api/fleet')).json.devices.total
  const missing = Array.from({ length: Math.max(0, largeFleet - before) }, (_, index) => `till-${index + 1}`)
  await importDevices(server, missing)
  const [wall, cpu]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const page = await signedIn()
    const debug = await page.context().newCDPSession(page)
    await debug.send('Performance.enable')
    const begun = performance.now()
    await open(page, '/', '.fleet-groups, .fleet-map canvas')
    wall.push(performance.now() - begun)
    const { metrics } = await debug.send('Performance.getMetrics')
    cpu.push(1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0))
    await page.context().close()
  }
  const rows = [
    ['Until its devices are shown', ...spread(wall), ...spread(cpu), median(wall) <= 2000 ? 'yes' : '**no**'],
  ]
  const head = ['', 'ms', 'rounds', "tasks of the page's thread, ms", 'rounds', 'at most 2000']
  return formatTable(head, rows)
}
