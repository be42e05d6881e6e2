// Measures rollouts that are released gradually, and very large runs, directly on the stores. Arguments: `sqlite` or
// `postgres` for only one of the stores, a number of devices, `--rounds`. Linux only: it reads /proc.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { parseSelector } from '@jobcast/contract/selector'
import { RolloutTicker } from '../server/src/dispatch/rollout-ticker.ts'
import { announce } from '../server/src/domain/rollout/roll-out.ts'
import type { StoredRollout } from '../server/src/domain/rollout/rollout.ts'
import { WaveCounts } from '../server/src/state/wave-counts.ts'
import { median, percentile } from './numbers.ts'
import { momentAt, nameOf, openRegistered, ownerNo, type RegisteredStore } from './registered.ts'
import { formatMs, formatTable } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
})
const devices = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 1_000_000)
const stores = ['sqlite', 'postgres'].filter(
  (name) => !positionals.some((word) => /^[a-z]/.test(word)) || positionals.includes(name),
)
const rounds = Number(values.rounds)
const atOnce = 10_000
const gated = 1000

const nobody = {
  wake: () => undefined,
  launched: () => undefined,
  released: () => undefined,
  withdraw: () => undefined,
  disconnect: () => undefined,
}

let at = 1
function triggerOf(deviceIds: string[], sizes?: number[]) {
  const moment = momentAt(at++)
  const plan = sizes && { jobVersion: null, rollout: {}, approval: false, sizes }
  const more = { launchedAt: moment.at, clock: moment.clock, keyId: 'k1', retryOf: null, idempotency: null }
  return { ownerNo, jobName: 'update', deviceIds, ...more, ...(plan && { plan }) }
}

const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => nameOf(from + index))

type Figures = { ms: number[]; cpu: number[] }

async function timed(cpu: () => number, into: Figures, work: () => Promise<unknown>): Promise<void> {
  const [begun, used] = [performance.now(), cpu()]
  await work()
  into.ms.push(performance.now() - begun)
  into.cpu.push(cpu() - used)
}

const rowOf = (title: string, { ms, cpu }: Figures) => [
  title,
  formatMs(median(ms)),
  `${formatMs(Math.min(...ms))}–${formatMs(Math.max(...ms))}`,
  formatMs(median(cpu)),
]

async function rolloutOf(store: RegisteredStore['store'], runId: number): Promise<StoredRollout> {
  const found = await store.getRollout({ ownerNo, runId })
  if (found === undefined) throw new Error(`run ${runId} has no rollout`)
  return found.rollout
}

/** A release does what a trigger does after its commit: it writes the number, and reads the devices to notify. */
async function compareRelease({ store, cpu }: RegisteredStore): Promise<string[][]> {
  const [trigger, release] = [
    { ms: [], cpu: [] },
    { ms: [], cpu: [] },
  ] as [Figures, Figures]
  for (let round = 0; round < rounds; round++) {
    await timed(cpu, trigger, () => store.createExecutions([triggerOf(names(atOnce))]))
    const [outcome] = await store.createExecutions([triggerOf(names(atOnce), [atOnce])])
    if (outcome?.kind !== 'created') throw new Error(outcome?.kind)
    const before = await rolloutOf(store, outcome.run.runId)
    await timed(cpu, release, async () => {
      const status = { ...before.status, state: 'RELEASED', released: atOnce } as const
      await store.changeRollout({ before, status, nextAt: null, events: [], moment: momentAt(at++) })
      await announce({ store, link: nobody }, before, 0, atOnce)
    })
  }
  return [rowOf('trigger of 10,000', trigger), rowOf('release of 10,000', release)]
}

/** The share of a core that gated runs take on one node while nothing happens. */
async function measureGated({ store, cpu }: RegisteredStore): Promise<string> {
  for (let run = 0; run < gated; run++) await store.createExecutions([triggerOf(names(10, run * 10), [5, 5])])
  const open = await store.listOpenRollouts()
  for (const { runId } of open) {
    const before = await rolloutOf(store, runId)
    const status = { ...before.status, released: Math.min(5, before.total) }
    await store.changeRollout({ before, status, nextAt: null, events: [], moment: momentAt(at++) })
  }
  const ticker = new RolloutTicker(
    {
      ...{ store, stopping: new AbortController().signal, countConfirmed: async () => 0 },
      waveCounts: new WaveCounts(store, () => performance.now()),
      changes: { notify: () => undefined } as never,
      moment: () => momentAt(at),
      onDone: () => undefined,
      onFailure: (error) => console.error(error),
    },
    nobody,
  )
  await ticker.tick()
  await ticker.quiet()
  const ticks = 40
  const used = cpu()
  for (let tick = 0; tick < ticks; tick++) await ticker.tick()
  // Gates are evaluated twice a second.
  const perSecond = ((cpu() - used) / ticks) * 2
  return `${open.length} gated runs: ${formatMs(perSecond)} ms of CPU a second, ${(perSecond / 10).toFixed(2)} % of a core`
}

async function selectAll(store: RegisteredStore['store']): Promise<Int32Array> {
  const deviceNos: number[] = []
  for (let after: string | undefined; ; ) {
    const slice = { after, limit: atOnce }
    const found = await store.selectDevices({ ownerNo, where: parseSelector('all'), slice })
    for (const { deviceNo } of found.items) deviceNos.push(deviceNo)
    if (found.next === undefined) return Int32Array.from(deviceNos)
    after = found.next
  }
}

type LargeRun = {
  runId: number
  ms: number
  cpu: number
  mebibytes: number
  p50: number
  p99: number
  loop: number
}

/** Selects the devices and creates the run, and measures how long others wait meanwhile. */
async function makeOne({ store, cpu }: RegisteredStore): Promise<LargeRun> {
  const { deviceIds: _, ...rest } = triggerOf([], [Math.ceil(devices / 2), Math.floor(devices / 2)])
  const loop = monitorEventLoopDelay({ resolution: 5 })
  const waits: number[] = []
  let most = 0
  let isMade = false
  const others = (async () => {
    for (let index = 0; !isMade; index++) {
      const begun = performance.now()
      await store.createExecutions([triggerOf([nameOf(index % devices)])])
      waits.push(performance.now() - begun)
      most = Math.max(most, process.memoryUsage.rss())
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  loop.enable()
  const before = process.memoryUsage.rss()
  const [begun, used] = [performance.now(), cpu()]
  const outcome = await store.createLargeRun({ ...rest, deviceNos: await selectAll(store) })
  const [ms, cpuMs] = [performance.now() - begun, cpu() - used]
  isMade = true
  await others
  loop.disable()
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const sorted = waits.toSorted((one, other) => one - other)
  const waited = { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
  const mebibytes = (most - before) / 1048576
  return { runId: outcome.run.runId, ms, cpu: cpuMs, mebibytes, ...waited, loop: loop.percentile(99) / 1e6 }
}

/** Measures how long others wait while the run is created, and what evaluating its waves costs. */
async function makeLarge(registered: RegisteredStore): Promise<string[]> {
  const runs: LargeRun[] = []
  for (let round = 0; round < rounds; round++) runs.push(await makeOne(registered))
  const figures = (of: (run: LargeRun) => number) => {
    const all = runs.map(of)
    return `${formatMs(median(all))} (${formatMs(Math.min(...all))}–${formatMs(Math.max(...all))})`
  }
  const memory = Math.round(Math.max(...runs.map(({ mebibytes }) => mebibytes)))
  const made = `run of ${devices.toLocaleString('en-US')} by selector: ${figures(({ ms }) => ms)} ms, CPU ${figures(({ cpu }) => cpu)} ms; memory up to ${memory} MiB more`
  const waited = `others meanwhile: trigger p50 ${figures(({ p50 }) => p50)}, p99 ${figures(({ p99 }) => p99)} ms; event loop p99 ${figures(({ loop }) => loop)} ms`
  return [made, waited, ...(await lookAtWaves(registered, runs[0]?.runId ?? 0))]
}

async function lookAtWaves(
  { store, cpu }: Pick<RegisteredStore, 'store' | 'cpu'>,
  runId: number,
): Promise<string[]> {
  const before = await rolloutOf(store, runId)
  const status = { ...before.status, released: before.total }
  await store.changeRollout({ before, status, nextAt: null, events: [], moment: momentAt(at++) })
  const waves = new WaveCounts(store, () => performance.now())
  const looks: string[] = []
  for (const title of ['first look at its waves', 'second look']) {
    const found = await store.getRollout({ ownerNo, runId })
    if (found === undefined) throw new Error('it is gone')
    const figures: Figures = { ms: [], cpu: [] }
    await timed(cpu, figures, () => waves.recent(found.rollout, found.run))
    looks.push(`${title}: ${formatMs(figures.ms[0])} ms, CPU ${formatMs(figures.cpu[0])} ms`)
  }
  return looks
}

for (const name of stores) {
  const registered = await openRegistered(devices, name === 'postgres')
  try {
    console.log(`${name}, ${devices.toLocaleString('en-US')} devices\n`)
    const rows = await compareRelease(registered)
    console.log(`${formatTable(['', 'ms', 'from–to', 'CPU ms'], rows)}\n`)
    for (const line of await makeLarge(registered)) console.log(line)
    console.log(`${await measureGated(registered)}\n`)
  } finally {
    await registered.close()
  }
}
