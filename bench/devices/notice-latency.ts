// Measures the time from the 201 to the device's notification, at 1,000 triggers per second. Devices end executions at
// once, so that only the service causes delays.

import { setTimeout as sleep } from 'node:timers/promises'
import { startJobcast } from '../jobcast.ts'
import { percentile } from '../numbers.ts'
import { copyStored } from '../stored.ts'
import { formatMs, formatRate, formatRatio, formatTable } from '../table.ts'
import { type Fleet, openFleet } from './open-fleet.ts'
import type { Options } from './options.ts'
import { type AnsweredTrigger, sendPacedTriggers } from './paced-triggers.ts'
import { medians } from './placed.ts'
import { cpuMs } from './process-use.ts'
import type { StoredDevices } from './stored-devices.ts'

const perSecond = 1000
const mostDevices = 2000
const mostMs = 20
const lastNoticesMs = 1000

export async function noticeLatencySection(stored: StoredDevices, options: Options): Promise<string> {
  const { warmUpMs, measureMs, rounds } = options
  const devices = Math.min(options.devices, mostDevices)
  const jobcast = await startJobcast(copyStored(stored))
  const fleet = await openFleet(stored.devices.slice(0, devices), { port: jobcast.mqttPort })
  await fleet.ask('subscribe', { topics: ['notify-next'], qos: 0 })
  const send = (ms: number) => sendPacedTriggers(jobcast, { devices, perSecond, ms })
  await measureLatency(fleet, jobcast.pid, () => send(warmUpMs))
  const measured: Latency[] = []
  for (let round = 0; round < rounds; round++) {
    const latency = await measureLatency(fleet, jobcast.pid, () => send(measureMs))
    console.error(`from the 201 to the device: p99 ${latency.p99AfterAnswer.toFixed(2)} ms`)
    measured.push(latency)
  }
  await Promise.all([fleet.end(), jobcast.end()])
  const title = `## ${formatRate(perSecond)} triggers a second, each of one of ${formatRate(devices)} devices`
  return `${title}\n\n${toTable(medians(measured))}`
}

export type Latency = {
  p50AfterAnswer: number
  p99AfterAnswer: number
  mostAfterAnswer: number
  p50: number
  p99: number
  p50OfAnswer: number
  p99OfAnswer: number
  serverCores: number
  fleetCores: number
}

export async function measureLatency(
  fleet: Fleet,
  pid: number,
  send: () => Promise<AnsweredTrigger[]>,
): Promise<Latency> {
  await fleet.ask('collect', undefined)
  const begun = performance.now()
  const cpuBefore = cpuMs(pid)
  const triggers = await send()
  const serverCores = (cpuMs(pid) - cpuBefore) / (performance.now() - begun)
  await sleep(lastNoticesMs)
  const [collected] = await fleet.ask('collected', undefined)
  if (collected === undefined) throw new Error('there is no fleet')
  const { jobIds, at, cores } = collected
  const noticedAt = new Map(jobIds.map((jobId, index) => [jobId, at[index] as number]))
  const noticed = triggers.map((trigger) => ({
    ...trigger,
    noticedAt: noticedAt.get(trigger.jobExecutionId) ?? Number.POSITIVE_INFINITY,
  }))
  const afterAnswer = ascending(noticed.map((each) => each.noticedAt - each.answeredAt))
  const all = ascending(noticed.map((each) => each.noticedAt - each.sentAt))
  const answers = ascending(noticed.map((each) => each.answeredAt - each.sentAt))
  return {
    p50AfterAnswer: percentile(afterAnswer, 0.5),
    p99AfterAnswer: percentile(afterAnswer, 0.99),
    mostAfterAnswer: percentile(afterAnswer, 1),
    p50: percentile(all, 0.5),
    p99: percentile(all, 0.99),
    p50OfAnswer: percentile(answers, 0.5),
    p99OfAnswer: percentile(answers, 0.99),
    serverCores,
    fleetCores: cores,
  }
}

function ascending(numbers: number[]): number[] {
  return numbers.sort((a, b) => a - b)
}

function toTable(latency: Latency): string {
  const { p50, p99, p50OfAnswer, p99OfAnswer, p50AfterAnswer, p99AfterAnswer, mostAfterAnswer } = latency
  const rows = [
    ['from the 201 to the device', p50AfterAnswer, p99AfterAnswer, mostAfterAnswer],
    ['from the request to the device', p50, p99],
    ['from the request to the 201', p50OfAnswer, p99OfAnswer],
  ].map(([title, ...times]) => [String(title), ...[0, 1, 2].map((index) => formatMs(times[index] as number))])
  return [
    formatTable(['', 'p50 ms', 'p99 ms', 'most ms'], rows),
    `From the 201 to the device p99 is **${formatRatio(p99AfterAnswer / mostMs)}** of ${mostMs} ms; the device waits ` +
      `**${formatRatio(p99 / p99OfAnswer)} ×** as long as the caller. ` +
      `The server kept ${latency.serverCores.toFixed(2)} cores busy, the fleet ${latency.fleetCores.toFixed(2)}.`,
  ].join('\n\n')
}
