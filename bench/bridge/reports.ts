// Measures reports of devices on a mosquitto, each until the device has its answer. Beside it, each on a mosquitto of its own,
// clients that answer at once and store nothing: one that encodes by itself, and one of mqtt.js.

import type { Credential, Order, ReportTimes } from '../devices/fleet-orders.ts'
import { type Fleet, openFleet } from '../devices/open-fleet.ts'
import { giveWork } from '../devices/placed.ts'
import { cpuMs } from '../devices/process-use.ts'
import type { StoredDevices } from '../devices/stored-devices.ts'
import { median } from '../numbers.ts'
import { startCommanded } from '../server-process.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from '../table.ts'
import { openBridged, spreadOf, startBroker } from './bridged.ts'
import type { Options } from './options.ts'

type Load = { title: string; perSecond?: number }
type Measured = ReportTimes & { cpuUs: number }
type Target = { name: string; fleet: Fleet; pid: number }

const mostDevices = 2000
const pacedPerSecond = 2000

export async function reportsSection(stored: StoredDevices, options: Options): Promise<string> {
  const devices = Math.min(options.devices, mostDevices)
  const bridged = await openBridged(stored, { ...options, devices })
  await giveWork(bridged)
  const few = stored.devices.slice(0, devices)
  const [echo, library] = [await openEcho('echo', few), await openEcho('mqtt-js', few)]
  const targets: Target[] = [bridged, echo, library]
  const topics = ['+/update/accepted']
  for (const target of targets) await target.fleet.ask('subscribe', { topics, qos: 0 })
  const loads: Load[] = [
    { title: `one under way from each of ${formatRate(devices)}` },
    { title: `${formatRate(pacedPerSecond)} a second, from all in turn`, perSecond: pacedPerSecond },
  ]
  const rows: string[][] = []
  for (const load of loads) rows.push(toRow(load, ...(await measure(load, targets, devices, options))))
  await Promise.all([echo.end(), library.end(), bridged.fleet.end()])
  await bridged.end()
  const head = [
    ...['', '**reports/s**', 'p50 ms', '**p99 ms**', 'spread of p99', 'CPU µs each', 'fleet cores'],
    ...['echo /s', 'Jobcast is', 'echo p99 ms', 'mqtt.js alone /s', 'its p99 ms', 'its CPU µs each'],
  ]
  return `## Reports of ${formatRate(devices)} devices over mosquitto, until answered\n\n${formatTable(head, rows)}`
}

/** A client that answers at once, with a mosquitto and a fleet of its own. */
async function openEcho(
  program: 'echo' | 'mqtt-js',
  devices: Credential[],
): Promise<Target & { end(): Promise<void> }> {
  const broker = await startBroker()
  const client = await startCommanded(`bridge/${program}.ts`, String(broker.port))
  const fleet = await openFleet(devices, broker)
  return {
    ...{ name: program, fleet, pid: client.pid },
    async end() {
      await Promise.all([fleet.end(), client.end()])
      await broker.end()
    },
  }
}

/** In turns, so that noise affects both alike. */
async function measure(
  { title, perSecond }: Load,
  targets: Target[],
  devices: number,
  { rounds, warmUpMs, measureMs }: Options,
): Promise<[Measured[], Measured[], Measured[]]> {
  const order: Order<'report'> = { devices, warmUpMs, measureMs, until: 'accepted' }
  const results: [Measured[], Measured[], Measured[]] = [[], [], []]
  for (let round = 0; round < rounds; round++)
    for (const [index, { name, fleet, pid }] of targets.entries()) {
      const cpuBefore = cpuMs(pid)
      const [times] = await fleet.ask('report', { ...order, ...(perSecond !== undefined && { perSecond }) })
      if (times === undefined) throw new Error('there is no fleet')
      console.error(`${title}, ${name}: ${times.perSecond.toFixed(0)}/s, p99 ${times.p99.toFixed(1)} ms`)
      results[index]?.push({ ...times, cpuUs: ((cpuMs(pid) - cpuBefore) * 1000) / times.all })
    }
  return results
}

function toRow({ title }: Load, ours: Measured[], echo: Measured[], library: Measured[]): string[] {
  const of = (rounds: Measured[], field: keyof Measured) => median(rounds.map((round) => round[field]))
  const p99 = of(ours, 'p99')
  const [rate, limit] = [of(ours, 'perSecond'), of(echo, 'perSecond')]
  const p99s = ours.map((round) => round.p99)
  return [
    title,
    `**${formatRate(rate)}**`,
    formatMs(of(ours, 'p50')),
    `**${formatMs(p99)}**`,
    formatSpread(spreadOf(p99s, p99)),
    of(ours, 'cpuUs').toFixed(0),
    of(ours, 'cores').toFixed(2),
    formatRate(limit),
    formatRatio(rate / limit),
    formatMs(of(echo, 'p99')),
    formatRate(of(library, 'perSecond')),
    formatMs(of(library, 'p99')),
    of(library, 'cpuUs').toFixed(0),
  ]
}
