// Simulates the sample devices in the process of `jobcast dev`.

import type { Device, DeviceCredential } from '@jobcast/contract'
import { type Fleet, type FleetEvent, simulatedTag, startFleet } from '@jobcast/sim'
import type { LocalApi } from './local-api.ts'
import { readSampleTokens } from './sample-tokens.ts'

/** Its executions always end as FAILED. */
export const failingId = 'kiosk-7'

const pattern = { workSeconds: { from: 1, to: 4 }, outputLines: 5 }

/** The sample devices that still exist and are still tagged as simulated. */
export async function findSimulated(api: LocalApi, dataFolder: string): Promise<DeviceCredential[]> {
  const found: DeviceCredential[] = []
  for (const credential of readSampleTokens(dataFolder)) {
    const path = `/job/api/devices/${encodeURIComponent(credential.deviceId)}`
    const device = (await api.find(path)) as Device | undefined
    if (device?.tags.includes(simulatedTag)) found.push(credential)
  }
  return found
}

export function simulateSamples(
  mqtt: string,
  credentials: DeviceCredential[],
  tell: (event: FleetEvent) => void,
): Fleet {
  const devices = credentials.map((credential) =>
    credential.deviceId === failingId ? { ...credential, pattern: { failureRate: 1 } } : credential,
  )
  // Our own certificate may be signed by a private CA.
  return startFleet({ mqtt, devices, pattern, tell, trustAnyCertificate: true })
}
