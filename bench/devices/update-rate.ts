// Measures status updates from devices with QoS 1, which the service acknowledges when they are on disk. Brokers without
// persistence acknowledge the same publishes.

import { formatMs, formatRate, formatRatio, formatTable } from '../table.ts'
import type { Order, ReportTimes } from './fleet-orders.ts'
import type { Options } from './options.ts'
import { endAll, giveWork, medians, type Placed, placeFleets, startJobcastSender } from './placed.ts'
import { cpuMs } from './process-use.ts'
import { startAedes, startMosquittoSender } from './senders.ts'
import type { StoredDevices } from './stored-devices.ts'

const wantedPerSecond = 5000
const mostDevices = 5000

type Load = Pick<Order<'report'>, 'devices' | 'perSecond' | 'until'> & { title: string }
type Measured = ReportTimes & { cpuUs: number }

export async function updateRateSection(stored: StoredDevices, options: Options): Promise<string> {
  const devices = Math.min(options.devices, mostDevices)
  const jobcast = await startJobcastSender(stored, devices)
  const others = [await startAedes([]), await startMosquittoSender([])]
  const placed = await placeFleets([jobcast, ...others], stored.devices.slice(0, devices))
  const [first] = placed
  if (first) await giveWork(first)
  const rows: string[][] = []
  for (const load of loadsOf(devices)) {
    const results = new Map<string, Measured>()
    for (const one of placed) results.set(one.name, await measure(one, load, options))
    rows.push(toRow(load, results))
  }
  await endAll(placed)
  const head = [
    ...['', 'updates/s', '**of 5,000**', 'p50 ms', 'p99 ms', 'CPU µs each', 'fleet cores'],
    ...['aedes /s', 'Jobcast is', 'mosquitto /s', 'Jobcast is'],
  ]
  return `## Status updates of ${formatRate(devices)} devices\n\n${formatTable(head, rows)}`
}

function loadsOf(devices: number): Load[] {
  const closed = [1, 64, devices].map(
    (count): Load => ({
      title: `one under way from each of ${formatRate(count)}`,
      devices: count,
      until: 'puback',
    }),
  )
  const all = { devices, perSecond: wantedPerSecond } as const
  const title = `${formatRate(wantedPerSecond)} a second, from all in turn`
  return [
    ...closed,
    { ...all, title, until: 'puback' },
    { ...all, title: `${title}, until accepted`, until: 'accepted' },
  ]
}

async function measure({ fleet, pid, name }: Placed, load: Load, options: Options): Promise<Measured> {
  const { warmUpMs, measureMs } = options
  // Brokers do not answer on a topic.
  if (load.until === 'accepted') {
    if (name !== 'Jobcast') return nothing
    await fleet.ask('subscribe', { topics: ['+/update/accepted'], qos: 0 })
  }
  const rounds: Measured[] = []
  for (let round = 0; round < options.rounds; round++) {
    const cpuBefore = cpuMs(pid)
    const [times] = await fleet.ask('report', { ...load, warmUpMs, measureMs })
    if (times === undefined) throw new Error('there is no fleet')
    console.error(`${load.title}, ${name}: ${times.perSecond.toFixed(0)}/s, p99 ${times.p99.toFixed(1)} ms`)
    rounds.push({ ...times, cpuUs: ((cpuMs(pid) - cpuBefore) * 1000) / times.all })
  }
  return medians(rounds)
}

const none = Number.NaN
const nothing: Measured = { perSecond: none, p50: none, p99: none, cores: none, all: none, cpuUs: none }

function toRow({ title }: Load, results: Map<string, Measured>): string[] {
  const { perSecond, p50, p99, cpuUs, cores } = results.get('Jobcast') ?? nothing
  const beside = (name: string) => {
    const theirs = (results.get(name) ?? nothing).perSecond
    return [formatRate(theirs), formatRatio(perSecond / theirs)]
  }
  return [
    title,
    formatRate(perSecond),
    `**${formatRatio(perSecond / wantedPerSecond)}**`,
    formatMs(p50),
    formatMs(p99),
    cpuUs.toFixed(0),
    cores.toFixed(2),
    ...beside('aedes'),
    ...beside('mosquitto'),
  ]
}
