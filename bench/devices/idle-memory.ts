// Measures the resident memory per idle connection, and whether all connections survive their keep-alives.

import { setTimeout as sleep } from 'node:timers/promises'
import { formatRate, formatRatio, formatTable } from '../table.ts'
import type { Credential } from './fleet-orders.ts'
import { openFleet } from './open-fleet.ts'
import type { Options } from './options.ts'
import { startJobcastSender } from './placed.ts'
import { residentKb } from './process-use.ts'
import { type Sender, startAedes, startBareSockets, startMosquittoSender } from './senders.ts'
import type { StoredDevices } from './stored-devices.ts'

const keepAliveSeconds = 20
const mostKb = 10
const warmUpConnections = 1000
const warmUps = 3

type Idle = { kb: number; pings: number }

export async function idleMemorySection(stored: StoredDevices, options: Options): Promise<string> {
  const { devices, mostConnections, holdSeconds } = options
  const levels = [1000, devices, mostConnections].filter((level, index, all) => level > (all[index - 1] ?? 0))
  const rows: string[][] = []
  const measure = async (sender: Sender, level: number, seconds: number) => {
    const idle = await measureIdle(sender, stored.devices.slice(0, level), seconds, options.settleMs)
    console.error(`${sender.name}, ${level} connections: ${idle.kb.toFixed(1)} KB each`)
    rows.push(toRow(sender.name, level, idle, seconds))
  }
  for (const level of levels) {
    await measure(await startJobcastSender(stored, 1), level, level === levels.at(-1) ? holdSeconds : 0)
  }
  for (const peer of [await startBareSockets(), await startAedes([]), await startMosquittoSender([])]) {
    if (peer) await measure(peer, devices, 0)
  }
  const head = ['', 'connections', 'KB each', '**of 10 KB**', 'held for s', 'pings answered', 'lost']
  const title = `## Idle connections, each with a keep-alive of ${keepAliveSeconds} s`
  return `${title}\n\n${formatTable(head, rows)}`
}

/** The heap grows with the first connections and does not shrink, so some connect and disconnect first, several times. */
async function measureIdle(
  sender: Sender,
  devices: Credential[],
  holdSeconds: number,
  settleMs: number,
): Promise<Idle> {
  const { pid, end } = sender
  for (let i = 0; i < warmUps; i++) {
    await (await openFleet(devices.slice(0, warmUpConnections), sender)).end()
  }
  await sleep(settleMs)
  const before = residentKb(pid)
  const fleet = await openFleet(devices, { ...sender, keepAliveSeconds })
  if (sender.speaksMqtt) await fleet.ask('subscribe', { topics: ['notify-next'], qos: 1 })
  await sleep(settleMs)
  // Fails if a ping is not answered or a connection is lost.
  const held = holdSeconds > 0 ? await fleet.ask('ping', { seconds: holdSeconds }) : []
  const kb = (residentKb(pid) - before) / devices.length
  await Promise.all([fleet.end(), end()])
  return { kb, pings: held.reduce((sum, { answered }) => sum + answered, 0) }
}

function toRow(name: string, level: number, { kb, pings }: Idle, seconds: number): string[] {
  const held = seconds > 0 ? [String(seconds), pings.toLocaleString('en-US'), '0'] : ['–', '–', '–']
  return [name, formatRate(level), kb.toFixed(1), `**${formatRatio(kb / mostKb)}**`, ...held]
}
