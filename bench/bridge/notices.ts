// Measures one trigger for all devices on a mosquitto, until the last one has its messages, and the same messages from a plain
// client of the same mosquitto and from one of mqtt.js.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Credential } from '../devices/fleet-orders.ts'
import type { Placed } from '../devices/placed.ts'
import { cpuMs } from '../devices/process-use.ts'
import { samplePayload } from '../devices/sample-message.ts'
import { allTopics, openMosquittoSender, type Sender, sendBy } from '../devices/senders.ts'
import type { StoredDevices } from '../devices/stored-devices.ts'
import { median } from '../numbers.ts'
import { startCommanded } from '../server-process.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from '../table.ts'
import { openBridged, spreadOf } from './bridged.ts'
import type { MqttJsCommand } from './mqtt-js.ts'
import type { Options } from './options.ts'

type Measured = { ms: number; cpuMs: number; bytes: number }

const messages = { topics: ['notify', 'notify-next'], qos: 1 as const }
const quietMs = 300
const makeReadyMs = 200
/** Rounds that are not counted. */
const warmUps = 1

export async function noticesSection(stored: StoredDevices, options: Options): Promise<string> {
  const devices = stored.devices.slice(0, options.devices)
  const bridged = await openBridged(stored, options)
  const { fleet, broker } = bridged
  const alone = { ...(await openMosquittoSender(broker, devices)), fleet }
  const library = { ...(await startMqttJs(broker.port, devices)), fleet }
  await fleet.ask('subscribe', messages)
  const [ours, theirs, byLibrary]: [Measured[], Measured[], Measured[]] = [[], [], []]
  for (let round = -warmUps; round < options.rounds; round++) {
    const measured = await measureOnce(bridged, 0)
    // The messages of the clients have the same size.
    const beside = await measureOnce(alone, measured.bytes)
    const third = await measureOnce(library, measured.bytes)
    if (round < 0) continue
    ours.push(measured)
    theirs.push(beside)
    byLibrary.push(third)
    const [ms, aloneMs, libraryMs] = [measured, beside, third].map((each) => each.ms.toFixed(0))
    console.error(`notices: ${ms} ms, mosquitto alone ${aloneMs} ms, mqtt.js alone ${libraryMs} ms`)
  }
  await Promise.all([fleet.end(), library.end(), bridged.end()])
  return toSection(devices.length, ours, theirs, byLibrary)
}

async function startMqttJs(port: number, devices: Credential[]): Promise<Sender> {
  const { pid, command, end } = await startCommanded('bridge/mqtt-js.ts', String(port))
  return {
    ...{ name: 'mqtt.js', port, pid, end, speaksMqtt: true },
    async makeReady(wanted) {
      const topics = allTopics(devices, wanted)
      const payload = samplePayload(topics[0] ?? '', wanted.qos, wanted.bytes)
      command({ topics, payload } satisfies MqttJsCommand)
      await sleep(makeReadyMs)
      return sendBy(() => command('send' satisfies MqttJsCommand))
    },
  }
}

async function measureOnce(sender: Placed, bytes: number): Promise<Measured> {
  const { fleet, pid, name } = sender
  await sleep(quietMs)
  const send = await sender.makeReady({ ...messages, bytes })
  await fleet.ask('count', undefined)
  const cpuBefore = cpuMs(pid)
  const { sentAt } = await send()
  const [counted] = await fleet.ask('counted', { each: messages.topics.length })
  if (counted === undefined) throw new Error('there is no fleet')
  const used = cpuMs(pid) - cpuBefore
  // Queues are empty again before the next round.
  if (name === 'Jobcast') await fleet.ask('finish', { topics: messages.topics.length })
  return { ms: counted.lastAt - sentAt, cpuMs: used, bytes: counted.bytes }
}

function toSection(devices: number, ours: Measured[], theirs: Measured[], byLibrary: Measured[]): string {
  const each = devices * messages.topics.length
  const ratioOf = (rounds: Measured[]) =>
    formatRatio(median(rounds.map(({ ms }, round) => ms / (theirs[round]?.ms ?? Number.NaN))))
  const rowOf = (name: string, rounds: Measured[], ratio: string) => {
    const times = rounds.map(({ ms }) => ms)
    const cpu = (median(rounds.map((round) => round.cpuMs)) * 1000) / each
    const ms = median(times)
    return [name, formatMs(ms), ratio, formatSpread(spreadOf(times, ms)), cpu.toFixed(1)]
  }
  const bytes = median(ours.map((round) => round.bytes))
  const head = [
    `QoS 1, ${bytes} bytes`,
    'last has it after ms',
    '**of mosquitto**',
    'spread',
    'CPU µs a message',
  ]
  const rows = [
    rowOf('Jobcast with a bridge', ours, `**${ratioOf(ours)} ×**`),
    rowOf('mosquitto alone', theirs, '–'),
    rowOf('mqtt.js alone', byLibrary, `${ratioOf(byLibrary)} ×`),
  ]
  return `## Notices to ${formatRate(devices)} devices over mosquitto\n\n${formatTable(head, rows)}`
}
