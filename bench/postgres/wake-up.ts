// Measures the time from a trigger at one node to its device at another, at 1,000 triggers per second.

import { newSecretText } from '@jobcast/server'
import { hashSecret } from '../../server/src/domain/access/secret-text.ts'
import type { Timing } from '../contenders.ts'
import type { Credential } from '../devices/fleet-orders.ts'
import { type Latency, measureLatency } from '../devices/notice-latency.ts'
import { openFleet } from '../devices/open-fleet.ts'
import { sendPacedTriggers } from '../devices/paced-triggers.ts'
import { medians } from '../devices/placed.ts'
import { fleet as allDevices } from '../fleet.ts'
import { formatMs, formatRate, formatRatio, formatTable } from '../table.ts'
import { type Databases, execute, startNode } from './databases.ts'

const perSecond = 1000
const devices = 2000
const mostMs = 50

const SET_TOKENS = `
  UPDATE device SET token_id = given.token_id, token_hash = decode(given.hash, 'hex'), token_created_at = 0
  FROM unnest($1::text[], $2::text[], $3::text[]) AS given (device_id, token_id, hash)
  WHERE owner_no = 1 AND device.device_id = given.device_id`

export async function wakeUpSection(
  databases: Databases,
  { warmUpMs, measureMs, rounds }: Timing & { rounds: number },
): Promise<string> {
  const url = await databases.copy()
  const credentials = await giveTokens(url)
  const [there, here] = await Promise.all([startNode(url), startNode(url)])
  const rows: string[][] = []
  const measured: Latency[] = []
  for (const [title, asked] of [['the same node', there] as const, ['another node', here] as const]) {
    const fleet = await openFleet(credentials, { port: there.mqttPort })
    await fleet.ask('subscribe', { topics: ['notify-next'], qos: 0 })
    const send = (ms: number) => sendPacedTriggers(asked, { devices, perSecond, ms })
    await measureLatency(fleet, there.pid, () => send(warmUpMs))
    const latencies: Latency[] = []
    for (let round = 0; round < rounds; round++) {
      const latency = await measureLatency(fleet, there.pid, () => send(measureMs))
      console.error(`asked at ${title}: p99 ${latency.p99AfterAnswer.toFixed(2)} ms after the 201`)
      latencies.push(latency)
    }
    await fleet.end()
    const middle = medians(latencies)
    measured.push(middle)
    const { p50AfterAnswer, p99AfterAnswer, mostAfterAnswer, p99OfAnswer } = middle
    rows.push([title, ...[p50AfterAnswer, p99AfterAnswer, mostAfterAnswer, p99OfAnswer].map(formatMs)])
  }
  await Promise.all([there.end(), here.end()])
  await databases.drop(url)
  const head = [
    'triggers come to',
    'from the 201 to the device: p50 ms',
    'p99 ms',
    'most ms',
    'the 201: p99 ms',
  ]
  const ratio = formatRatio((measured[1]?.p99AfterAnswer ?? Number.NaN) / mostMs)
  return [
    `## ${formatRate(perSecond)} triggers a second, each of one of ${formatRate(devices)} devices`,
    formatTable(head, rows),
    `From another node p99 is **${ratio}** of ${mostMs} ms.`,
  ].join('\n\n')
}

async function giveTokens(url: string): Promise<Credential[]> {
  const given = allDevices.slice(0, devices).map(({ deviceId }) => ({ deviceId, ...newSecretText('jd') }))
  await execute(url, SET_TOKENS, [
    given.map(({ deviceId }) => deviceId),
    given.map(({ id }) => id),
    given.map(({ text }) => Buffer.from(hashSecret(text)).toString('hex')),
  ])
  return given.map(({ deviceId, text }) => ({ deviceId, token: text }))
}
