// A server with a job and a fleet, which are closed after the test.

import type { TestContext } from 'node:test'
import { type Fleet, type FleetOptions, registerDevices, startFleet } from '@jobcast/sim'
import type { OpenServer } from '@jobcast/testkit/open-server'

const quick = { workSeconds: { from: 0, to: 0.2 } }
/** Longer than any test. */
export const endless = { workSeconds: { from: 3600, to: 3600 } }
export const jobName = 'restart'

/** Creates only the job; each test creates its own devices. */
export async function withJob(server: OpenServer): Promise<OpenServer> {
  await server.putJobAndDevices(jobName, [])
  return server
}

let made = 0

/** Ids that no other test uses. */
export function newDeviceIds(count: number): string[] {
  return Array.from({ length: count }, () => `sim-${++made}`)
}

export function deviceIdsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `sim-${index + 1}`)
}

export async function openFleet(
  t: TestContext,
  { call, server }: OpenServer,
  deviceIds: string[],
  options: Partial<FleetOptions> = {},
): Promise<Fleet> {
  const devices = await registerDevices(call, deviceIds)
  const fleet = startFleet({ mqtt: server.mqtt, devices, pattern: quick, seed: 1, ...options })
  t.after(() => fleet.stop())
  await fleet.whenUp()
  return fleet
}

/** Triggers a run on all devices and returns it once it has finished. */
export async function runToEnd(server: OpenServer, deviceIds: string[]) {
  const { headers } = await server.trigger(jobName, deviceIds)
  return untilFinished(server, headers.get('location') as string)
}

/** Returns the run at this address once it has finished. */
export async function untilFinished(server: OpenServer, address: string) {
  for (;;) {
    const { json } = await server.call('GET', `${address}?wait=60`)
    if (json.finished) return json
  }
}
