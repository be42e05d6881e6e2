// A server with a fleet connected to it.

import { startJobcast } from '../jobcast.ts'
import { median } from '../numbers.ts'
import { copyStored } from '../stored.ts'
import type { Credential } from './fleet-orders.ts'
import { type Fleet, openFleet } from './open-fleet.ts'
import { jobcastSender, type Sender } from './senders.ts'
import type { StoredDevices } from './stored-devices.ts'

export type Placed = Sender & { fleet: Fleet }

/** Skips senders that are not installed. */
export async function placeFleets(senders: (Sender | undefined)[], devices: Credential[]): Promise<Placed[]> {
  const placed: Placed[] = []
  for (const sender of senders) {
    if (sender) placed.push({ ...sender, fleet: await openFleet(devices, sender) })
  }
  return placed
}

export async function endAll(placed: Placed[]): Promise<void> {
  for (const { fleet, end } of placed) await Promise.all([fleet.end(), end()])
}

/** Starts on a copy of the database; it triggers the first `devices`. */
export async function startJobcastSender(stored: StoredDevices, devices: number): Promise<Sender> {
  return jobcastSender(await startJobcast(copyStored(stored)), devices)
}

/** Gives each device one execution to report about. */
export async function giveWork({ fleet, makeReady }: Placed): Promise<void> {
  await fleet.ask('subscribe', { topics: ['notify-next'], qos: 0 })
  await fleet.ask('count', undefined)
  const send = await makeReady({ topics: ['notify-next'], qos: 0, bytes: 0 })
  await send()
  await fleet.ask('counted', { each: 1 })
}

export function medians<T extends Record<string, number>>(rounds: T[]): T {
  const fields = Object.keys(rounds[0] ?? {})
  return Object.fromEntries(
    fields.map((field) => [field, median(rounds.map((round) => round[field] as number))]),
  ) as T
}
