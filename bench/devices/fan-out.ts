// Measures one trigger for all connected devices, until the last one has its message.

import { setTimeout as sleep } from 'node:timers/promises'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from '../table.ts'
import type { Options } from './options.ts'
import { endAll, medians, type Placed, placeFleets, startJobcastSender } from './placed.ts'
import { cpuMs } from './process-use.ts'
import { type Messages, startAedes, startBareSockets, startMosquittoSender } from './senders.ts'
import type { StoredDevices } from './stored-devices.ts'

type Case = Omit<Messages, 'bytes'> & { title: string }
type Measured = { ms: number; msFromAnswer: number; cpuMs: number; cores: number; bytes: number }
type Results = Map<string, Measured[]>

const cases: Case[] = [
  { title: 'notify-next, QoS 0', topics: ['notify-next'], qos: 0 },
  { title: 'notify-next, QoS 1', topics: ['notify-next'], qos: 1 },
  { title: 'notify and notify-next, QoS 0', topics: ['notify', 'notify-next'], qos: 0 },
]
const quietMs = 300

export async function fanOutSection(stored: StoredDevices, options: Options): Promise<string> {
  const devices = stored.devices.slice(0, options.devices)
  const jobcast = await startJobcastSender(stored, options.devices)
  const others = [await startBareSockets(), await startAedes(devices), await startMosquittoSender(devices)]
  const placed = await placeFleets([jobcast, ...others], devices)
  const tables: string[] = []
  for (const each of cases) {
    tables.push(toTable(each, await measureCase(each, placed, options), devices.length))
  }
  await endAll(placed)
  return [`## One trigger for ${formatRate(devices.length)} connected devices`, ...tables].join('\n\n')
}

/** All senders stay connected and take turns, so that noise affects all alike. */
async function measureCase(one: Case, placed: Placed[], { rounds, warmUps }: Options): Promise<Results> {
  const results: Results = new Map(placed.map(({ name }) => [name, []]))
  for (const { fleet, speaksMqtt } of placed) {
    if (speaksMqtt) await fleet.ask('subscribe', one)
  }
  let bytes = 0
  for (let round = -warmUps; round < rounds; round++) {
    for (const sender of placed) {
      await sleep(quietMs)
      const measured = await measureOnce(sender, { ...one, bytes })
      // Jobcast comes first; the others send messages of the same size.
      bytes = measured.bytes
      if (round < 0) continue
      results.get(sender.name)?.push(measured)
      console.error(`${one.title}, ${sender.name}: ${measured.ms.toFixed(1)} ms`)
    }
  }
  return results
}

async function measureOnce(sender: Placed, messages: Messages): Promise<Measured> {
  const { fleet, pid, name } = sender
  const each = messages.topics.length
  const send = await sender.makeReady(messages)
  await fleet.ask('count', undefined)
  const cpuBefore = cpuMs(pid)
  const { sentAt, answeredAt = Number.NaN } = await send()
  const [counted] = await fleet.ask('counted', { each })
  if (counted === undefined) throw new Error('there is no fleet')
  const used = cpuMs(pid) - cpuBefore
  if (name === 'Jobcast') await fleet.ask('finish', { topics: each })
  const { lastAt, bytes, cores } = counted
  return { ms: lastAt - sentAt, msFromAnswer: lastAt - answeredAt, cpuMs: used, cores, bytes }
}

function toTable({ title, topics }: Case, results: Results, devices: number): string {
  const jobcast = medians(results.get('Jobcast') ?? [])
  const rows = [...results].map(([name, rounds]) => {
    const { ms, cpuMs, cores } = medians(rounds)
    const cpu = ((cpuMs * 1000) / (devices * topics.length)).toFixed(1)
    const times = rounds.map((round) => round.ms)
    const spread = rounds.length > 1 ? (Math.max(...times) - Math.min(...times)) / ms : Number.NaN
    const ratio = `**${formatRatio(jobcast.ms / ms)} ×**`
    return [name, formatMs(ms), ratio, formatSpread(spread), cpu, cores.toFixed(2)]
  })
  const fromAnswer = ['Jobcast, after the 201', formatMs(jobcast.msFromAnswer), '–', '–', '–', '–']
  rows.splice(1, 0, fromAnswer)
  if (!results.has('mosquitto')) rows.push(['mosquitto', 'is not on the PATH', '–', '–', '–', '–'])
  const size = `${title}, ${jobcast.bytes} bytes`
  const head = [
    size,
    'last has it after ms',
    '**Jobcast takes**',
    'spread',
    'CPU µs a message',
    'fleet cores',
  ]
  return formatTable(head, rows)
}
