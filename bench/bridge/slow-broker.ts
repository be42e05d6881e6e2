// Measures the memory of a server whose broker takes messages more slowly than reports arrive.

import { setTimeout as sleep } from 'node:timers/promises'
import { giveWork } from '../devices/placed.ts'
import { residentKb } from '../devices/process-use.ts'
import type { StoredDevices } from '../devices/stored-devices.ts'
import { median } from '../numbers.ts'
import { formatRate, formatSpread, formatTable } from '../table.ts'
import { type Bridged, openBridged, spreadOf } from './bridged.ts'
import type { Options } from './options.ts'
import { openThrottle, type Throttle } from './throttle.ts'

type Measured = { beforeMb: number; highestMb: number; waiting: number }

const perSecond = 5000
const slowBytesPerSecond = 64 * 1024
/** How many times as long as at full speed. */
const slowTimes = 5
const sampleEveryMs = 100

export async function slowBrokerSection(stored: StoredDevices, options: Options): Promise<string> {
  const rounds: Measured[] = []
  for (let round = 0; round < options.rounds; round++) {
    const measured = await measureOnce(stored, options)
    const { beforeMb, highestMb, waiting } = measured
    console.error(
      `slow broker: ${beforeMb.toFixed(0)} MB, then at most ${highestMb.toFixed(0)} MB, ${waiting} waiting`,
    )
    rounds.push(measured)
  }
  const grown = rounds.map(({ beforeMb, highestMb }) => highestMb - beforeMb)
  const of = (field: keyof Measured) => median(rounds.map((round) => round[field])).toFixed(0)
  const head = ['reports/s', 'MB before', 'highest MB', '**grown by MB**', 'spread', 'responses waiting']
  const row = [formatRate(perSecond), of('beforeMb'), of('highestMb'), `**${median(grown).toFixed(0)}**`]
  const spread = formatSpread(spreadOf(grown, median(grown)))
  const title = `## A broker that takes ${slowBytesPerSecond / 1024} KB a second from the service`
  return `${title}\n\n${formatTable(head, [[...row, spread, of('waiting')]])}`
}

async function measureOnce(stored: StoredDevices, options: Options): Promise<Measured> {
  let throttle: Throttle | undefined
  const bridged = await openBridged(stored, options, async (broker) => {
    throttle = await openThrottle(broker.port)
    return throttle.port
  })
  await giveWork(bridged)
  const { devices, warmUpMs, measureMs } = options
  const load = { devices, perSecond, warmUpMs, until: 'puback' as const }
  // The heap has grown to its size before.
  await bridged.fleet.ask('report', { ...load, measureMs })
  const beforeMb = residentKb(bridged.pid) / 1024
  throttle?.limit(slowBytesPerSecond)
  const over = new AbortController()
  const sampling = highest(bridged, over.signal)
  await bridged.fleet.ask('report', { ...load, measureMs: slowTimes * measureMs })
  over.abort()
  const measured = { beforeMb, ...(await sampling) }
  await Promise.all([bridged.fleet.end(), bridged.end()])
  throttle?.close()
  return measured
}

async function highest(
  { pid, readBridge }: Bridged,
  over: AbortSignal,
): Promise<Pick<Measured, 'highestMb' | 'waiting'>> {
  let [highestMb, waiting] = [0, 0]
  while (!over.aborted) {
    highestMb = Math.max(highestMb, residentKb(pid) / 1024)
    waiting = Math.max(waiting, (await readBridge()).waiting)
    await sleep(sampleEveryMs)
  }
  return { highestMb, waiting }
}
