// A server with a bridge to a mosquitto, and a fleet that is connected to the mosquitto alone.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bridge, Page } from '@jobcast/contract'
import { openFleet } from '../devices/open-fleet.ts'
import type { Placed } from '../devices/placed.ts'
import { jobcastSender } from '../devices/senders.ts'
import type { StoredDevices } from '../devices/stored-devices.ts'
import { type Jobcast, startJobcast } from '../jobcast.ts'
import { type Mosquitto, startMosquitto } from '../peers/mosquitto.ts'
import { copyStored } from '../stored.ts'
import type { Options } from './options.ts'

export type Bridged = Placed & { broker: Mosquitto; readBridge(): Promise<Bridge> }

/** As the documentation of the bridge recommends. */
const brokerSettings = ['max_inflight_messages 1000']

export const startBroker = () => startMosquitto(brokerSettings)

/** `bridgePort` is where the server connects, if that is not the broker itself. */
export async function openBridged(
  stored: StoredDevices,
  options: Options,
  bridgePort: (broker: Mosquitto) => number | Promise<number> = ({ port }) => port,
): Promise<Bridged> {
  const broker = await startBroker()
  const flags = ['--bridge', `mqtt://127.0.0.1:${await bridgePort(broker)}`]
  const jobcast = await startJobcast(copyStored(stored), { flags })
  const readBridge = () => bridgeOf(jobcast)
  while ((await readBridge()).state !== 'connected') await sleep(50)
  const devices = stored.devices.slice(0, options.devices)
  return {
    ...jobcastSender(jobcast, options.devices),
    port: broker.port,
    fleet: await openFleet(devices, broker),
    broker,
    readBridge,
    async end() {
      await jobcast.end()
      await broker.end()
    },
  }
}

async function bridgeOf({ port, apiKey }: Jobcast): Promise<Bridge> {
  const reply = await fetch(`http://127.0.0.1:${port}/job/api/bridges`, { headers: { 'x-api-key': apiKey } })
  const [bridge] = ((await reply.json()) as Page<Bridge>).items
  if (bridge === undefined) throw new Error('the server has no bridge')
  return bridge
}

/** Between the slowest and the fastest round, as a part of the median. */
export function spreadOf(values: readonly number[], median: number): number {
  return values.length > 1 ? (Math.max(...values) - Math.min(...values)) / median : Number.NaN
}
